"""What an agent runs is written down, also where it never ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from itbc.contracts.schemas import checked
from itbc.contracts.shape import read
from itbc.contracts.trajectory import Trajectory
from itbc.runner.sandbox.trajectory import FILE, STDERR, STDOUT, Following


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_programs_follow_each_other_with_what_each_printed(tmp_path: Path) -> None:
    clock = Clock(100.0)
    following = Following(tmp_path, 98.0, clock)
    with following.program(["kubectl", "get", "pods"]) as ended:
        (tmp_path / STDOUT).write_bytes(b"four")
        clock.now = 101.5
        ended(0)
    with following.program(["false"]) as ended:
        (tmp_path / STDERR).write_bytes(b"no")
        ended(1)
    found = read(tmp_path / FILE, Trajectory)
    checked("trajectory", found)
    first, second = found.commands
    assert (first.command, first.at_seconds, first.seconds, first.exit_code) == (
        ["kubectl", "get", "pods"],
        2.0,
        1.5,
        0,
    )
    assert (first.stdout_bytes, first.stderr_bytes) == (4, 0)
    assert (second.at_seconds, second.exit_code, second.stdout_bytes, second.stderr_bytes) == (3.5, 1, 0, 2)


def test_one_that_is_running_or_was_ended_has_no_exit_code(tmp_path: Path) -> None:
    def run() -> None:
        with Following(tmp_path, 0.0, Clock(1.0)).program(["sleep", "1d"]):
            (running,) = read(tmp_path / FILE, Trajectory).commands
            assert (running.command, running.exit_code) == (["sleep", "1d"], None)
            (tmp_path / STDOUT).write_bytes(b"z")
            raise TimeoutError

    with pytest.raises(TimeoutError):
        run()
    (killed,) = read(tmp_path / FILE, Trajectory).commands
    assert (killed.seconds, killed.exit_code, killed.stdout_bytes) == (None, None, 1)
