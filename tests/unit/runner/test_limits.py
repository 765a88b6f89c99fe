from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from itbc.providers.cgroups import hierarchies
from itbc.runner.leftovers.ledger import FileLedger, leftovers
from itbc.runner.leftovers.sweepers import sweep_cgroup, sweep_workspace
from itbc.runner.processes import own_identity
from itbc.runner.sandbox import limits
from itbc.runner.sandbox.limits import Enclosure, Limits, enclosed, mount_workspace, settings, unmount_workspace
from itbc.runner.sandbox.programs import NoSandbox, OutOfTime, Sandbox, user_of
from itbc.runner.sandbox.view import Needs, view
from itbc.runner.waiting import Patience

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="cgroups and mounts need root")

RUN = f"20261201-101500-l{os.getpid() % 1000:03d}"
GROUP = f"itbc-{RUN}-agent"
SMALL = Limits(memory=96 << 20, cpus=0.5, processes=24)


@pytest.fixture
def ledger(tmp_path: Path) -> FileLedger:
    return FileLedger(tmp_path / "ledger.jsonl", own_identity(), "2030-01-01T00:00:00+00:00")


@contextmanager
def box(folder: Path, ledger: FileLedger, given: Limits = SMALL) -> Iterator[tuple[Sandbox, Enclosure]]:
    work = folder / "work"
    work.mkdir()
    os.chown(work, user_of(RUN), user_of(RUN))
    with enclosed(RUN, given, ledger) as enclosure:
        yield (
            Sandbox(
                run=RUN,
                user=user_of(RUN),
                folder=work,
                environment={"PATH": "/usr/bin:/bin", "HOME": str(work)},
                view=view(Needs([work])),
                ledger=ledger,
                groups=enclosure.groups,
            ),
            enclosure,
        )


def run(sandbox: Sandbox, folder: Path, *command: str, seconds: float = 30.0) -> int:
    patience = Patience()
    outputs = (folder / "out", folder / "err")
    return sandbox.execute(command, outputs, patience, deadline=patience.monotonic() + seconds).code


def groups() -> list[Path]:
    return [group for each in hierarchies() if (group := each.path / GROUP).exists()]


def test_what_takes_too_much_memory_is_ended(tmp_path: Path, ledger: FileLedger) -> None:
    with box(tmp_path, ledger) as (sandbox, enclosure):
        assert run(sandbox, tmp_path, "/usr/bin/true") == 0
        assert enclosure.reached() == []
        hog = "while :; do a=$a$(head -c 4194304 /dev/zero | tr '\\0' x); done"
        assert run(sandbox, tmp_path, "bash", "-c", hog) != 0
        assert enclosure.reached() == ["memory"]
    assert groups() == []
    assert leftovers(tmp_path / "ledger.jsonl") == []


def test_what_forks_without_end_stays_in_its_box(tmp_path: Path, ledger: FileLedger) -> None:
    with box(tmp_path, ledger) as (sandbox, enclosure):
        with pytest.raises(OutOfTime):
            run(sandbox, tmp_path, "bash", "-c", "bomb() { bomb | bomb & }; bomb; sleep 60", seconds=3)
        assert enclosure.reached() == ["processes"]
        assert run(sandbox, tmp_path, "/usr/bin/true") == 0
    assert groups() == []


def test_files_in_private_folders_are_limited(tmp_path: Path, ledger: FileLedger) -> None:
    with box(tmp_path, ledger, replace(SMALL, memory=1 << 30)) as (sandbox, _):
        assert run(sandbox, tmp_path, "dd", "if=/dev/zero", "of=/tmp/large", "bs=1M", "count=300") == 1
        assert b"No space left on device" in (tmp_path / "err").read_bytes()
        assert run(sandbox, tmp_path, "bash", "-c", "ulimit -f") == 0
        assert (tmp_path / "out").read_text() == f"{(1 << 30) // 1024}\n"


def test_a_workspace_is_a_file_system_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WORKSPACE_BYTES", 1 << 20)
    place = tmp_path / "agents"
    place.mkdir()
    mount_workspace(place)
    try:
        assert os.path.ismount(place)
        with (place / "large").open("wb", buffering=0) as file:
            file.write(b"x" * (1 << 20))
            with pytest.raises(OSError, match="No space left"):
                file.write(b"x")
        assert sweep_workspace(RUN, {"path": str(place)}) == [f"agent workspace of {RUN}"]
        assert not place.exists()
        assert sweep_workspace(RUN, {"path": str(place)}) == []
    finally:
        unmount_workspace(place)


def test_a_folder_that_is_no_mount_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    unmount_workspace(tmp_path)
    assert (tmp_path / "kept").exists()


def test_the_group_of_a_killed_run_is_swept(ledger: FileLedger) -> None:
    with enclosed(RUN, SMALL, ledger):
        assert groups()
        assert sweep_cgroup(RUN, {"name": GROUP}) == [f"cgroup of the agent of {RUN}"]
        assert groups() == []
        assert sweep_cgroup(RUN, {"name": GROUP}) == []


def test_a_machine_without_cgroups_runs_no_agent(monkeypatch: pytest.MonkeyPatch, ledger: FileLedger) -> None:
    monkeypatch.setattr(limits, "hierarchies", list)
    with pytest.raises(NoSandbox, match="no cgroups for cpu, memory, pids"), enclosed(RUN, SMALL, ledger):
        pass


def test_both_versions_of_cgroups_are_told_the_same() -> None:
    every = frozenset({"cpu", "memory", "pids"})
    assert settings(1, every, SMALL) == {
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_quota_us": "50000",
        "memory.limit_in_bytes": "100663296",
        "pids.max": "24",
    }
    assert settings(2, every, SMALL) == {"cpu.max": "50000 100000", "memory.max": "100663296", "pids.max": "24"}
    assert settings(1, frozenset({"blkio"}), SMALL) == {}
