"""Runs that fail for what the scenario says, or are given up: the right reason, the place in it, and nothing left."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from program import Itbc, at_home

pytestmark = pytest.mark.e2e

SCENARIOS = Path(__file__).parents[2] / "scenarios"
NOBODY = "nobody-has-this-prefix"


@pytest.fixture
def itbc() -> Generator[Itbc]:
    with at_home() as program:
        yield program


def _edited(folder: Path, name: str, old: str, new: str) -> Path:
    """A copy of a shipped scenario, beside copies of all that it imports, with one thing changed."""
    copy = shutil.copytree(SCENARIOS, folder / "scenarios") / "sre" / name / "scenario.itb"
    text = copy.read_text("utf-8")
    assert text.count(old) == 1
    copy.write_text(text.replace(old, new), "utf-8")
    return copy


def _line(path: Path, text: str) -> int:
    (found,) = (number for number, line in enumerate(path.read_text("utf-8").splitlines(), 1) if text in line)
    return found


def _fails(itbc: Itbc, scenario: Path, machine: ModuleType) -> tuple[dict[str, Any], str]:
    """Run it, which must end without a score and leave nothing; why it failed, and what was said."""
    before = machine.snapshot(NOBODY)
    code, said = itbc.call("run", str(scenario), "--agent", "noop")
    assert code == 4, said
    assert "Traceback" not in said
    assert machine.settled(before, itbc.run.name) == []
    assert list((itbc.home / "ledger").iterdir()) == []
    record = json.loads((itbc.run / "record.json").read_text())
    assert (record["state"], record["destroyed"], record["score"]) == ("failed", True, None)
    assert not list(itbc.run.glob("steps/*-agent.json")), "the agent was let in"
    failure: dict[str, Any] = record["failure"]
    return failure, said


def test_an_alert_that_never_fires(itbc: Itbc, tmp_path: Path, machine: ModuleType) -> None:
    never = 'within = "3m"\n    }\n\n    alert "ContainerOutOfMemory" {\n      labels = { namespace = "shop" }\n'
    scenario = _edited(tmp_path, "checkout-wrong-payment-address", 'within = "3m"\n', f'{never}      within = "20s"\n')
    failure, said = _fails(itbc, scenario, machine)
    assert (failure["stage"], failure["fault"]) == ("alerting", "alert")
    assert "ContainerOutOfMemory didn't fire within 20 s of the injection (no such alert)" in failure["message"]
    assert failure["origin"]["line"] == _line(scenario, 'alert "ContainerOutOfMemory"')
    assert f"scenario.itb:{failure['origin']['line']}" in said


def test_a_fault_that_shows_no_effect(itbc: Itbc, tmp_path: Path, machine: ModuleType) -> None:
    # Payment may not talk to the store any more; it never did, so nothing is ever dropped.
    scenario = _edited(tmp_path, "orders-not-let-in-by-store", 'caller = "orders"', 'caller = "payment"')
    failure, said = _fails(itbc, scenario, machine)
    assert (failure["stage"], failure["fault"]) == ("injecting", "injection")
    assert "not so after 60 s: packets to store are dropped" in failure["message"]
    assert failure["origin"]["line"] == _line(scenario, 'fault "')
    assert f"scenario.itb:{failure['origin']['line']}" in said


def test_a_second_ctrl_c_gives_up_and_gc_does_the_rest(itbc: Itbc, machine: ModuleType) -> None:
    before = machine.snapshot(NOBODY)
    scenario = SCENARIOS / "sre" / "checkout-wrong-payment-address"
    with itbc.start("run", str(scenario), "--agent", "command", "--", "sleep", "600") as process:
        itbc.until_step("agent", process)
        process.send_signal(signal.SIGINT)
        itbc.until_step("destroy", process)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 4, said
    assert "giving up: what remains is told at the end" in said
    assert "Traceback" not in said
    run = itbc.run
    record = json.loads((run / "record.json").read_text())
    assert (record["state"], record["failure"]["fault"], record["destroyed"]) == ("failed", "interrupted", False)
    assert "itbc gc" in said or f"itbc destroy {run.name}" in said
    code, told = itbc.call("gc")
    assert (code, f"run {run.name}: removed" in told) == (0, True), told
    assert machine.settled(before, run.name) == []
    assert not _sleeping()


def _sleeping() -> bool:
    """Whether the agent still runs."""
    found = subprocess.run(["pgrep", "-fx", "sleep 600"], capture_output=True, text=True, check=False)
    return bool(found.stdout)
