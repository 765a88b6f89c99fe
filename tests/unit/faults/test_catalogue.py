"""The catalogue as a whole: found by folder, well formed, the same each time."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from itbc.cli import assembly
from itbc.cli.exits import Exit, ExitError
from itbc.providers import faults

KINDS = frozenset({"string", "integer", "number", "bool", "duration", "quantity", "name"})


def test_every_family_file_is_in_the_catalogue():
    families = {path.stem for path in Path(faults.__file__).parent.glob("*.py")} - {"__init__"}
    named = {kind.changes.__module__.rpartition(".")[2] for kind in faults.catalogue().faults.values()}
    assert families == named


def test_entries_are_named_and_documented():
    for name, fault in faults.catalogue().faults.items():
        assert name == fault.kind
        assert re.fullmatch(r"[a-z0-9]+(\.[a-z0-9-]+)+", name)
        assert fault.summary.endswith(".")
        assert len(fault.doc) > len(fault.summary)
        assert fault.targets
        for parameter in fault.parameters:
            assert parameter.type in KINDS
            assert parameter.doc.endswith(".")


def test_the_order_does_not_vary():
    assert list(faults.catalogue().faults) == sorted(faults.catalogue().faults)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (SimpleNamespace(), "providers/faults/env.py defines no FAULTS"),
        (
            SimpleNamespace(FAULTS=(faults.catalogue().faults["k8s.command.invalid"],)),
            "providers/faults/command.py and providers/faults/env.py both define the fault kind k8s.command.invalid",
        ),
    ],
)
def test_a_wrong_family_is_named_with_its_file(monkeypatch: pytest.MonkeyPatch, second: Any, said: str):
    found = faults.importlib.import_module
    monkeypatch.setattr(
        faults.importlib, "import_module", lambda name: second if name.endswith(".env") else found(name)
    )
    with pytest.raises(ExitError, match="catalogue is wrong") as ending:
        assembly.catalogue()
    assert said in ending.value.message
    assert ending.value.code == Exit.BUG
    assert "docs/faults/README.md" in ending.value.remedy
