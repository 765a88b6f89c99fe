"""The cgroup hierarchies of this machine, version 1 and version 2.

A machine has either one unified hierarchy (version 2), or one for each
controller (version 1), or both at once ("hybrid"): what is mounted decides.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from itbc.providers import process

INTERVAL = 0.05
"""How long after a look at a group that is busy the next one is, in seconds."""

MOUNTS = Path("/proc/self/mounts")

_OPTIONS = frozenset({"rw", "ro", "relatime", "noatime", "nosuid", "nodev", "noexec", "xattr", "clone_children"})
"""Mount options that name no controller."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A mounted hierarchy. `controllers` is what it controls; a hierarchy of version 1 may have only a name."""

    path: Path
    version: int
    controllers: frozenset[str]


def hierarchies(mounts: Path = MOUNTS) -> list[Hierarchy]:
    """What is mounted, in the order of the paths; of links and repeated mounts only one."""
    found: dict[Path, Hierarchy] = {}
    for line in mounts.read_text().splitlines():
        _, path, kind, options = line.split()[:4]
        place = Path(path.encode().decode("unicode_escape"))
        if kind == "cgroup":
            names = {option for option in options.split(",") if option not in _OPTIONS and "=" not in option}
            found[place] = Hierarchy(place, 1, frozenset(names))
        elif kind == "cgroup2":
            with suppress(OSError):
                names = set((place / "cgroup.controllers").read_text().split())
                found[place] = Hierarchy(place, 2, frozenset(names))
    return [found[place] for place in sorted(found)]


def hand_down(folder: Path) -> None:
    """Let a group's children have all its controllers (version 2). Groups that have them already stay untouched."""
    file = folder / "cgroup.subtree_control"
    lacking = sorted(set((folder / "cgroup.controllers").read_text().split()) - set(file.read_text().split()))
    for controller in lacking:
        # One by one: a kernel may refuse a single one (cpu, with real-time processes about), and that isn't fatal.
        with suppress(OSError):
            file.write_text(f"+{controller}")


def pids(name: str, found: Iterable[Hierarchy]) -> list[int]:
    """The numbers of the processes in the groups of a name and in those below them."""
    numbers: set[int] = set()
    for hierarchy in found:
        for folder in _bottom_up(hierarchy.path / name):
            with suppress(OSError):
                numbers.update(int(word) for word in (folder / "cgroup.procs").read_text().split())
    return sorted(number for number in numbers if number)


def remove(name: str, found: Sequence[Hierarchy], seconds: float) -> int:
    """Kill whatever is in the groups of a name, then remove them with those below them.

    The number of groups removed comes back. Raises OSError, which names the
    group, when one stays for so long.
    """
    removed = 0
    deadline = time.monotonic() + seconds
    for hierarchy in found:
        for folder in _bottom_up(hierarchy.path / name):
            while True:
                try:
                    folder.rmdir()
                    removed += 1
                except FileNotFoundError:
                    pass
                except OSError:
                    # Busy: a process is in it, or still on its way out.
                    if time.monotonic() > deadline:
                        raise
                    for pid in pids(name, found):
                        _kill(pid)
                    time.sleep(INTERVAL)
                    continue
                break
    return removed


def _kill(pid: int) -> None:
    found = process.status(pid)
    if found is not None and not found.ended:
        process.kill(pid, lambda: process.status(pid) == found)


def _bottom_up(top: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(top, topdown=False):
        yield Path(folder)
