"""Outages while the agent works: each ends the run as the environment's failure, unscored, and nothing is left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from program import Itbc

from itbc.providers.cgroups import hierarchies
from itbc.providers.embedded import cgroups
from itbc.providers.embedded.spec import cgroup_name

pytestmark = pytest.mark.e2e

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sre" / "checkout-wrong-payment-address"
NOBODY = "nobody-has-this-prefix"
WORK_SECONDS = 15
_ROOM = "6g"


@pytest.fixture
def home() -> Generator[Path]:
    """A home with a file system of its own, which can be made as small as what is in it."""
    # Short, because sockets lie in it.
    folder = Path(tempfile.mkdtemp(prefix="itbc-e2e-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_ROOM},mode=0711", "tmpfs", folder], check=True)
    try:
        yield folder
        with Itbc(folder).start("gc") as process:
            said, _ = process.communicate(timeout=300)
        assert (process.returncode, said) == (0, "nothing to remove\n")
    finally:
        subprocess.run(["umount", "--recursive", folder], check=True)
        shutil.rmtree(folder)


def _resize(home: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", home], check=True)


def _working(home: Path) -> subprocess.Popen[str]:
    """A run whose agent works, and will for WORK_SECONDS more."""
    process = Itbc(home).start("run", str(SCENARIO), "--agent", "command", "--", "sleep", str(WORK_SECONDS))
    deadline = time.monotonic() + 300
    while not any('"kind":"agent-process"' in path.read_text() for path in home.glob("ledger/*.jsonl")):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return process


def _run(home: Path) -> Path:
    (found,) = (home / "runs").iterdir()
    return found


def _kill(home: Path, program: str) -> None:
    """End a program of the run's own cluster, which is found among the members of the cluster's cgroup."""
    found = [
        member.pid
        for member in cgroups.members(cgroup_name(f"{_run(home).name}.shop"), hierarchies())
        if Path(_program(member.pid)).name == program
    ]
    (pid,) = found
    os.kill(pid, signal.SIGKILL)


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


def _failed(home: Path, process: subprocess.Popen[str], before: object, machine: ModuleType) -> dict[str, Any]:
    """The failure of a run that ended unscored, and left nothing."""
    said, _ = process.communicate(timeout=300)
    _resize(home, _ROOM)
    run = _run(home)
    assert process.returncode == 4, said
    assert machine.settled(before, run.name) == []
    assert "Traceback" not in said
    record = json.loads((run / "record.json").read_text())
    assert (record["state"], record["destroyed"], record["score"]) == ("failed", True, None)
    assert not (run / "evidence.json").exists()
    assert not (run / "score.json").exists()
    assert list((home / "ledger").iterdir()) == []
    assert list((home / "agents").iterdir()) == []
    assert list((run / "clusters").iterdir()) == []
    failure: dict[str, Any] = record["failure"]
    assert failure["message"] in said.replace("\n", " ")
    assert failure["fault"] == "environment"
    # Nor is it scored later.
    with Itbc(home).start("evaluate", run.name) as evaluating:
        assert "there is no evidence" in evaluating.communicate(timeout=60)[0]
    assert evaluating.returncode == 1
    return failure


@pytest.mark.parametrize("program", ["kube-apiserver", "containerd", "prometheus"])
def test_a_program_of_the_cluster_that_is_killed(program: str, home: Path, machine: ModuleType) -> None:
    before = machine.snapshot(NOBODY)
    with _working(home) as process:
        _kill(home, program)
        failure = _failed(home, process, before, machine)
    assert failure["stage"] == "evaluating"
    assert f"{program} of cluster shop ended and was started again" in failure["message"]
    assert failure["remedy"] == "run again: this run says nothing about the agent"


def test_a_prometheus_that_stays_dead(home: Path, machine: ModuleType) -> None:
    before = machine.snapshot(NOBODY)
    with _working(home) as process:
        (_run(home) / "clusters/shop/node/etc/prometheus/prometheus.yml").unlink()
        _kill(home, "prometheus")
        failure = _failed(home, process, before, machine)
    assert failure["stage"] == "evaluating"
    assert "prometheus of cluster shop ended and" in failure["message"]


def test_a_disk_that_is_full(home: Path, machine: ModuleType) -> None:
    before = machine.snapshot(NOBODY)
    with _working(home) as process:
        _resize(home, str(shutil.disk_usage(home).used))
        failure = _failed(home, process, before, machine)
    assert failure["stage"] in {"working", "evaluating"}
    if failure["stage"] == "working":
        assert "can't be written: No space left on device" in failure["message"]
    else:
        assert "the environment had an outage while the run went on" in failure["message"]
