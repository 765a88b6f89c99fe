"""The committed JSON Schemas: made from the shapes, valid themselves, and strict."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest

from itbc.contracts import schemas
from itbc.contracts.answer import Answer, Cause
from itbc.contracts.shape import ContractError, from_json, to_json


@pytest.mark.parametrize("name", sorted(schemas.CONTRACTS))
def test_the_committed_schema_is_the_shapes(name: str):
    committed = (schemas.FOLDER / f"{name}.schema.json").read_text("utf-8")
    assert committed == schemas.text(schemas.generate(name)), "run: python -m itbc.contracts.schemas"


@pytest.mark.parametrize("name", sorted(schemas.CONTRACTS))
def test_the_schema_is_a_schema(name: str):
    jsonschema.Draft202012Validator.check_schema(schemas.generate(name))


def test_there_is_a_schema_for_every_contract_and_no_other():
    assert {path.name for path in schemas.FOLDER.iterdir()} == {f"{name}.schema.json" for name in schemas.CONTRACTS}


def test_every_versioned_shape_is_a_contract():
    def all_shapes(kind: type[Any]) -> set[type[Any]]:
        return {kind}.union(*(all_shapes(below) for below in kind.__subclasses__()))

    versioned = {
        shape
        for shape in all_shapes(schemas.Shape)
        if shape.__module__.startswith("itbc.contracts.") and "version" in shape.__struct_fields__
    }
    assert versioned == set(schemas.CONTRACTS.values())


ANSWER = Answer(root_causes=[Cause(kind="Deployment", name="checkout", namespace="shop")], explanation="wrong address")


def test_what_a_shape_writes_is_valid_and_reads_back():
    data = schemas.checked("answer", ANSWER)
    assert from_json(data, Answer) == ANSWER


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": "itbc.answer/2"}, "$.version"),
        ({"version": None}, "$.version"),
        ({"surprise": 1}, "surprise"),
        ({"root_causes": [{"kind": "Deployment"}]}, "$.root_causes[0]"),
        ({"explanation": 3}, "$.explanation"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(change: dict[str, Any], said: str):
    value = {**msgspec.to_builtins(ANSWER), **change}
    with pytest.raises(ContractError) as raised:
        schemas.validate("answer", json.dumps(value).encode(), "answer.json")
    assert str(raised.value).startswith("answer.json: not a valid answer: ")
    assert said in str(raised.value)


def test_a_file_must_say_its_version():
    value = msgspec.to_builtins(ANSWER)
    del value["version"]
    with pytest.raises(ContractError, match="'version' is a required property"):
        schemas.validate("answer", json.dumps(value).encode())


def test_half_a_file_is_not_json():
    with pytest.raises(ContractError, match="not JSON"):
        schemas.validate("answer", to_json(ANSWER)[:20], "answer.json")
