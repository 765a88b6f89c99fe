"""Looking at processes, and ending exactly the one that is meant.

A number alone says nothing: it may have been given to another process since.
Who a process is follows from its number and its start together.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Status:
    """What the kernel tells of a process: when it started, in clock ticks since boot, and whether it has ended."""

    started: int
    ended: bool


def status(pid: int) -> Status | None:
    """The process that has this number now, from `/proc/PID/stat`; None for nobody. A zombie has `ended`."""
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command, field 2, is in brackets and may hold anything; what follows is plain.
    fields = text.rpartition(")")[2].split()
    return Status(int(fields[19]), fields[0] in ("Z", "X"))


def kill(pid: int, is_it: Callable[[], bool]) -> bool:
    """Send SIGKILL to the process of this number if `is_it` still says so. False where it is gone already."""
    if not is_it():
        # Also because the number may be a thread's by now, which can't be opened.
        return False
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        # The descriptor holds the process fast: who it is can be asked now without a race.
        if not is_it():
            return False
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True
