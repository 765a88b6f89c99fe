"""The cluster's own group in every cgroup hierarchy of this machine, version 1 and version 2."""

from __future__ import annotations

from pathlib import Path

from itbc.providers.cgroups import Hierarchy, hand_down, pids
from itbc.providers.cgroups import remove as remove_groups
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.process import ProcessId, identify

SYSTEM = "system"
"""The sub-group of everything that isn't a pod."""

_NEEDED = frozenset({"cpu", "cpuset", "memory", "pids"})


def missing_controllers(found: list[Hierarchy]) -> list[str]:
    """Controllers that Kubernetes needs and no hierarchy has."""
    return sorted(_NEEDED.difference(*(hierarchy.controllers for hierarchy in found)))


def create(name: str, found: list[Hierarchy]) -> list[Path]:
    """Make the cluster's group with its system sub-group everywhere; the sub-groups come back. Repeatable."""
    return [_create(hierarchy, name) for hierarchy in found]


def _create(hierarchy: Hierarchy, name: str) -> Path:
    group = hierarchy.path / name
    system = group / SYSTEM
    try:
        for folder in (group, system):
            if hierarchy.version == 2:
                hand_down(folder.parent)
            folder.mkdir(exist_ok=True)
            if hierarchy.version == 1 and "cpuset" in hierarchy.controllers:
                # A new group of cpuset has neither processors nor memory, and no process may join it.
                for file in ("cpuset.cpus", "cpuset.mems"):
                    (folder / file).write_text((folder.parent / file).read_text())
    except OSError as wrong:
        raise EmbeddedError(
            f"the cgroup {group} can't be made: {wrong.strerror}",
            "The cgroup file systems must be writable; in a container, start it with a private, writable cgroup mount.",
        ) from wrong
    if hierarchy.version == 2:
        _require_controllers(hierarchy, group)
    return system


def _require_controllers(hierarchy: Hierarchy, group: Path) -> None:
    """Make sure that the hierarchy's controllers arrived. They don't where processes sit in the group above."""
    arrived = set((group / "cgroup.controllers").read_text().split())
    lacking = sorted((_NEEDED & hierarchy.controllers) - arrived)
    if lacking:
        raise EmbeddedError(
            f"the cgroup {hierarchy.path} doesn't hand {', '.join(lacking)} down to groups below it",
            "In a container, the processes in its own root cgroup are in the way: move them to a group below it "
            "(an init such as systemd does), or run on the machine itself.",
        )


def enter(groups: list[str]) -> None:
    """Move the calling process into groups."""
    for group in groups:
        # 0 is whoever writes, in every pid namespace.
        Path(group, "cgroup.procs").write_text("0")


def members(name: str, found: list[Hierarchy]) -> list[ProcessId]:
    """The processes in the cluster's groups."""
    return [process for pid in pids(name, found) if (process := identify(pid))]


def remove(name: str, found: list[Hierarchy], seconds: float = 20.0) -> int:
    """Kill whatever is in the cluster's groups, then remove them.

    The number of groups removed comes back. Raises EmbeddedError when one stays.
    """
    try:
        return remove_groups(name, found, seconds)
    except OSError as wrong:
        raise EmbeddedError(f"the cgroup {wrong.filename} can't be removed: {wrong.strerror}") from wrong
