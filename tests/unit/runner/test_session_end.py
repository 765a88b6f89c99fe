"""A run's ledger outlives its end, also when the run is ended twice."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from itbc.runner.home import Home
from itbc.runner.leftovers.ledger import FileLedger
from itbc.runner.processes import own_identity
from itbc.runner.session import close


def ended(home: Home, thing: str) -> Any:
    ledger = FileLedger(home.ledger("one"), own_identity(), "2999-01-01T00:00:00Z")
    ledger.held()
    ledger.intent("toy", thing, {})
    ledger.created("toy", thing)
    ledger.gone("toy", thing)
    around = SimpleNamespace(home=home, run=home.run("one"), ledger=ledger)
    return cast("Any", SimpleNamespace(around=around, journal=SimpleNamespace(unsaved={})))


def test_what_was_known_stays_when_a_run_is_ended_twice(tmp_path: Path):
    home = Home(tmp_path / "home", tmp_path / "cache")
    for folder in (home.runs, home.ledgers):
        folder.mkdir(parents=True)
    home.run("one").create()
    for thing in ("first", "second"):
        close(ended(home, thing))
    kept = (home.run("one").path / "ledger.jsonl").read_text()
    assert '"first"' in kept
    assert '"second"' in kept
    assert not home.ledger("one").exists()
