"""The stacks against the schemas of the resources they are made of: what `terraform validate` would say."""

from __future__ import annotations

import json
from pathlib import Path

from itbc.cli import assembly

ARTEFACTS = Path(__file__).parents[2] / "golden" / "compiler" / "expected" / "artefacts"
META = {"depends_on", "lifecycle"}


def test_every_resource_has_the_arguments_that_its_type_takes_and_needs():
    schemas = {f"itbc_{kind.get_name()}": kind.get_schema().attributes for kind in assembly.resources()}
    used: set[str] = set()
    for path in ARTEFACTS.glob("terraform/*/main.tf.json"):
        for kind, resources in json.loads(path.read_text("utf-8"))["resource"].items():
            used.add(kind)
            required = {each.name for each in schemas[kind] if each.required}
            allowed = {each.name for each in schemas[kind] if each.required or each.optional}
            for name, arguments in resources.items():
                given = set(arguments) - META
                assert required <= given <= allowed, f"{kind}.{name}"
    assert used == set(schemas)


def test_every_output_is_an_attribute():
    schemas = {f"itbc_{kind.get_name()}": kind.get_schema().attributes for kind in assembly.resources()}
    for path in ARTEFACTS.glob("terraform/*/main.tf.json"):
        for output in json.loads(path.read_text("utf-8")).get("output", {}).values():
            kind, _, attribute = output["value"].strip("${}").split(".")
            assert attribute in {each.name for each in schemas[kind]}
