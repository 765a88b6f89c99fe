"""Processes by who they are, not by a number that may have been given to another one since."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from itbc.providers import process as machine
from itbc.providers.embedded.files import replace


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process: its number, its start in clock ticks since boot, and which boot."""

    pid: int
    started: int
    boot: str


def boot_id() -> str:
    """The kernel's name of this boot."""
    return (machine.PROC / "sys/kernel/random/boot_id").read_text().strip()


def identify(pid: int) -> ProcessId | None:
    """Who has this number now; None for nobody."""
    found = machine.status(pid)
    return None if found is None else ProcessId(pid, found.started, boot_id())


def alive(process: ProcessId) -> bool:
    """Whether the process still runs. A zombie doesn't."""
    found = machine.status(process.pid)
    if found is None or found.ended:
        return False
    return found.started == process.started and process.boot == boot_id()


def children(pid: int) -> list[int]:
    """The numbers of a process' children, by any of its threads."""
    found: list[int] = []
    for thread in (machine.PROC / str(pid) / "task").glob("*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found.extend(int(word) for word in (thread / "children").read_text().split())
    return found


def kill(process: ProcessId) -> bool:
    """Send SIGKILL to exactly this process. False where it is gone already."""
    return machine.kill(process.pid, lambda: alive(process))


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
