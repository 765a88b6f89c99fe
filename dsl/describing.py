"""What a type of the schema wants, in words: for messages and for the reference page."""

from __future__ import annotations

from collections.abc import Callable

from itbc.dsl.diagnostics import listing
from itbc.dsl.schema.types import (
    Anything,
    BooleanType,
    Duration,
    Either,
    FaultName,
    Keyword,
    ListOf,
    MapOf,
    NumberType,
    Quantity,
    ReferenceType,
    Text,
    ValueType,
)


def describe(kind: ValueType) -> str:  # noqa: C901, PLR0911 - one case a type
    """What a type wants, in words."""
    match kind:
        case Text(kind=form):
            words = {
                "text": "a string",
                "query": "a string with PromQL",
                "name": "a name in quotes",
                "path": "a path in quotes",
                "date": 'a date such as "2026-11-01"',
                "word": "a string without spaces",
                "mode": 'permissions such as "0644"',
            }
            return words[form]
        case NumberType(integer, minimum, maximum):
            return ("a whole number" if integer else "a number") + _bounds(minimum, maximum, str)
        case BooleanType():
            return "`true` or `false`"
        case Duration():
            return 'a duration such as "1h30m"'
        case Quantity(of):
            return 'a quantity such as "8Gi"' if of == "memory" else 'a quantity such as "500m"'
        case Keyword(words):
            return f"one of {listing(list(words))}" if len(words) > 1 else listing(list(words))
        case ReferenceType(forms):
            return "a reference " + " or ".join(f"`{form}`" for form in forms)
        case FaultName():
            return "the name of a fault"
        case ListOf(item):
            return f"a list of: {describe(item)}"
        case MapOf(value):
            return f"an object with values: {describe(value)}"
        case Either(types):
            return " or ".join(describe(one) for one in types)
        case Anything():
            return "any value"


def _bounds(minimum: float | None, maximum: float | None, show: Callable[[float], str]) -> str:
    if minimum is not None and maximum is not None:
        return f" from {show(minimum)} to {show(maximum)}"
    if minimum is not None:
        return f" of at least {show(minimum)}"
    return f" of at most {show(maximum)}" if maximum is not None else ""
