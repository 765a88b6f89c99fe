"""Blocks of cost scenarios: what things cost."""

from __future__ import annotations

from itbc.dsl.schema.types import AttributeSchema, BlockSchema, LabelSchema, Nested, NumberType, Text
from itbc.dsl.schema.words import RATE_UNIT

RATE = BlockSchema(
    "rate",
    "The price of one unit of one resource.",
    labels=(LabelSchema("NAME", "identifier", "What reports call it."),),
    attributes=(
        AttributeSchema("unit", RATE_UNIT, "What one unit is; the time is always one hour.", required=True),
        AttributeSchema("price", NumberType(minimum=0), "In the sheet's currency.", required=True),
    ),
)

PRICE_SHEET = BlockSchema(
    "price_sheet",
    "What resources cost, fixed at a day, so that a score can be recomputed years later.",
    labels=(LabelSchema("NAME", "identifier", "What clusters call it."),),
    attributes=(
        AttributeSchema("currency", Text("word"), "ISO 4217 code of the currency.", required=True),
        AttributeSchema("as_of", Text("date"), "The day the prices are from.", required=True),
        AttributeSchema("source", Text(), "Where they are from.", required=True),
    ),
    blocks=(Nested(RATE, 1),),
    checked=False,
)
