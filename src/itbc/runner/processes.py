"""Processes by identity: a pid alone may have been given to another process since."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from itbc.providers import process as machine


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process for all time: its pid and its start in clock ticks since the machine's boot."""

    pid: int
    started: int


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of the process that has this pid now; None where there is none, or only its zombie."""
    found = machine.status(pid)
    return None if found is None or found.ended else ProcessIdentity(pid, found.started)


def own_identity() -> ProcessIdentity:
    """The identity of this process. Raises RuntimeError where `/proc` isn't mounted."""
    found = identify(os.getpid())
    if found is None:
        raise RuntimeError("can't read /proc: is it mounted?")
    return found


def alive(process: ProcessIdentity) -> bool:
    """Whether that very process still runs."""
    return identify(process.pid) == process


def kill(process: ProcessIdentity, seconds: float = 10.0) -> bool:
    """Kill a process and wait until it is gone. Returns whether there was anything to kill.

    Raises TimeoutError when it is still there after `seconds`.
    """
    if not machine.kill(process.pid, lambda: alive(process)):
        return False
    deadline = time.monotonic() + seconds
    while alive(process):
        if time.monotonic() > deadline:
            raise TimeoutError(f"process {process.pid} doesn't end")
        time.sleep(0.05)
    return True
