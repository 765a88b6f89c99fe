"""The cgroup hierarchies of this machine, version 1 and version 2.

A machine has either one unified hierarchy (version 2), or one for each
controller (version 1), or both at once ("hybrid"): what is mounted decides.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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
