from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from itbc.stacks.toolchain.running import run_long


def nothing(_: object) -> None:
    pass


def test_lines_of_both_outputs_and_the_exit_code_come_through() -> None:
    lines: list[str] = []
    script = "import sys; print('one', flush=True); print('two', file=sys.stderr); sys.exit(3)"
    ended = run_long([sys.executable, "-c", script], os.environ, lines.append, nothing)
    assert (ended.code, lines) == (3, ["one", "two"])
    assert ended.reason == "one\ntwo"


def test_a_silent_program_is_reported_on() -> None:
    script = "import sys; sys.stdin.read(); import time; time.sleep(0.4)"
    ticks: list[float] = []
    run_long([sys.executable, "-c", script], os.environ, nothing, ticks.append, every=0.1)
    assert len(ticks) >= 2
    assert ticks == sorted(ticks)


def test_an_interrupt_ends_the_program_before_it_goes_on(tmp_path: Path) -> None:
    marker = tmp_path / "ended"
    script = f"""
import signal, sys, time
def end(*_):
    open({str(marker)!r}, "w").close()
    sys.exit(1)
signal.signal(signal.SIGINT, end)
print("ready", flush=True)
time.sleep(60)
"""

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_long([sys.executable, "-c", script], os.environ, interrupt, nothing)
    assert marker.exists()


def test_a_program_that_is_not_there_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        run_long(["/no/such/program"], os.environ, nothing, nothing)
