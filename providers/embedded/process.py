"""Processes by who they are, not by a number that may have been given to another one since."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from itbc.providers.embedded.files import replace

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process: its number, its start in clock ticks since boot, and which boot."""

    pid: int
    started: int
    boot: str


def boot_id() -> str:
    """The kernel's name of this boot."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int) -> list[str] | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command, field 2, is in brackets and may hold anything; what follows is plain.
    return text.rpartition(")")[2].split()


def identify(pid: int) -> ProcessId | None:
    """Who has this number now; None for nobody."""
    fields = _stat(pid)
    return None if fields is None else ProcessId(pid, int(fields[19]), boot_id())


def alive(process: ProcessId) -> bool:
    """Whether the process still runs. A zombie doesn't."""
    fields = _stat(process.pid)
    if fields is None or fields[0] in "ZX":
        return False
    return int(fields[19]) == process.started and process.boot == boot_id()


def children(pid: int) -> list[int]:
    """The numbers of a process' children, by any of its threads."""
    found: list[int] = []
    for thread in (_PROC / str(pid) / "task").glob("*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found.extend(int(word) for word in (thread / "children").read_text().split())
    return found


def kill(process: ProcessId) -> bool:
    """Send SIGKILL to exactly this process. False where it is gone already."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        # The descriptor holds the process fast: who it is can be asked now without a race.
        if not alive(process):
            return False
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True


def reap(pid: int) -> None:
    """Take note of the end of a child of ours, so that no zombie stays; nothing for other processes or living ones."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def save(path: Path, process: ProcessId) -> None:
    """Remember a process in a file. Raises FileNotFoundError where its folder is gone: it is never made anew."""
    replace(path, json.dumps(asdict(process), sort_keys=True) + "\n")


def load(path: Path) -> ProcessId | None:
    """The remembered process; None where there is no (whole) file."""
    try:
        data = json.loads(path.read_text())
        return ProcessId(pid=int(data["pid"]), started=int(data["started"]), boot=str(data["boot"]))
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return None
