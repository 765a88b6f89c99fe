"""The JSON Schema of each contract: made from the shapes, committed beside them, and what files are checked against.

`python -m itbc.contracts.schemas` writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import msgspec

from itbc.contracts.answer import Answer
from itbc.contracts.environment import Environment, Topology
from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import Evidence
from itbc.contracts.manifest import Manifest
from itbc.contracts.metrics import Metrics
from itbc.contracts.record import Record, Step
from itbc.contracts.score import Score
from itbc.contracts.shape import ContractError, Shape, to_json
from itbc.contracts.trajectory import Trajectory
from itbc.contracts.undo import UndoRecord

CONTRACTS: Mapping[str, type[Shape]] = {
    "answer": Answer,
    "environment": Environment,
    "evaluation": Evaluation,
    "evidence": Evidence,
    "manifest": Manifest,
    "metrics": Metrics,
    "record": Record,
    "score": Score,
    "step": Step,
    "topology": Topology,
    "trajectory": Trajectory,
    "undo": UndoRecord,
}
"""Every contract by its name; its schema is `schema/NAME.schema.json`."""

FOLDER = Path(__file__).parent / "schema"


def generate(name: str) -> dict[str, Any]:
    """The schema of a contract, from its shape."""
    shape = CONTRACTS[name]
    (reference,), definitions = msgspec.json.schema_components([shape])
    own = definitions.pop(shape.__name__)
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{_version(shape).replace('/', ':')}",
        **own,
        # A reader may be older or newer than the writer, so a file always says which version it is.
        "required": ["version", *own.get("required", [])],
    }
    if definitions:
        schema["$defs"] = definitions
    if reference != {"$ref": f"#/$defs/{shape.__name__}"}:
        raise ContractError(f"{name}: the schema isn't an object's")
    return schema


def _version(shape: type[Shape]) -> str:
    version = next(field.default for field in msgspec.structs.fields(shape) if field.name == "version")
    return str(version)


def text(schema: Mapping[str, Any]) -> str:
    """A schema as it is committed."""
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")))


def validate(name: str, data: bytes, file: str = "input") -> None:
    """Check a file's bytes against a contract's schema. Raises ContractError with the JSON path of what is wrong."""
    try:
        value = json.loads(data)
    except ValueError as wrong:
        raise ContractError(f"{file}: not JSON: {wrong}") from wrong
    wrongs = sorted(_validator(name).iter_errors(value), key=lambda error: error.json_path)
    if wrongs:
        said = "; ".join(f"{error.json_path}: {error.message}" for error in wrongs[:5])
        raise ContractError(f"{file}: not a valid {name}: {said}")


def checked(name: str, shape: Shape) -> bytes:
    """The bytes of a shape, checked against its contract's schema. Raises ContractError."""
    data = to_json(shape)
    validate(name, data, f"{name}.json")
    return data


def main() -> None:
    """Write all schemas anew."""
    FOLDER.mkdir(exist_ok=True)
    for name in CONTRACTS:
        (FOLDER / f"{name}.schema.json").write_text(text(generate(name)), "utf-8")


if __name__ == "__main__":
    main()
