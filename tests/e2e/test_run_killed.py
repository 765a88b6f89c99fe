"""A run that is killed leaves nothing that the next `itbc gc` doesn't remove, at whatever moment it was killed."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from types import ModuleType

import pytest
from program import Itbc

pytestmark = pytest.mark.e2e

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sre" / "checkout-wrong-payment-address"
NOBODY = "nobody-has-this-prefix"


@pytest.fixture
def home() -> Generator[Path]:
    # Short, because sockets lie in it.
    folder = Path(tempfile.mkdtemp(prefix="itbc-e2e-"))
    try:
        yield folder
    finally:
        code, said = _gc(folder)
        assert code == 0, said
        shutil.rmtree(folder)


def _gc(home: Path) -> tuple[int, str]:
    with Itbc(home).start("gc") as process:
        said, _ = process.communicate(timeout=300)
    return process.returncode, said


def _creating_cluster(home: Path) -> bool:
    """The first stack is being applied: the cluster's first process runs, terraform knows of nothing yet."""
    return any(home.glob("runs/*/clusters/shop/host.json"))


def _creating_workloads(home: Path) -> bool:
    """The last stack is being applied."""
    return any('"kind":"kubernetes-object"' in path.read_text() for path in home.glob("ledger/*.jsonl"))


def _agent_works(home: Path) -> bool:
    return any(home.glob("runs/*/steps/*-agent.json")) and any(
        '"kind":"agent-process"' in path.read_text() for path in home.glob("ledger/*.jsonl")
    )


@pytest.mark.parametrize("moment", [_creating_cluster, _creating_workloads, _agent_works])
def test_the_next_gc_leaves_the_machine_as_before(moment: object, home: Path, machine: ModuleType) -> None:
    assert callable(moment)
    before = machine.snapshot(NOBODY)
    with Itbc(home).start("run", str(SCENARIO), "--agent", "command", "--", "sleep", "4711") as process:
        deadline = time.monotonic() + 300
        while not moment(home):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    (run,) = (home / "runs").iterdir()
    assert machine.difference(before, machine.snapshot(run.name)), "nothing was there to be removed"
    code, said = _gc(home)
    assert code == 0, said
    assert f"run {run.name}: removed" in said
    assert machine.settled(before, run.name) == []
    assert not _sleeping()
    assert list((home / "agents").iterdir()) == []
    assert list((home / "compiled").iterdir()) == []
    assert list((home / "ledger").iterdir()) == []
    record = json.loads((run / "record.json").read_text())
    assert (record["state"], record["destroyed"], record["failure"]["fault"]) == ("failed", True, "interrupted")
    assert _gc(home) == (0, "nothing to remove\n")


def _sleeping() -> bool:
    """Whether the agent still runs."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\x004711\x00":
                return True
        except OSError:
            continue
    return False
