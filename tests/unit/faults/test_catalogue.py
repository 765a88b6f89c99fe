"""The catalogue as a whole: found by folder, well formed, the same each time."""

from __future__ import annotations

import re
from pathlib import Path

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
