"""How much of the machine an agent may use: a cgroup of its own, and a workspace of a fixed size.

Names of files are those of the kernel's documentation (admin-guide/cgroup-v1,
admin-guide/cgroup-v2).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from itbc.providers.cgroups import Hierarchy, hand_down, hierarchies
from itbc.providers.cgroups import remove as remove_groups
from itbc.providers.services import Ledger
from itbc.runner.sandbox.programs import NoSandbox

KIND = "agent-cgroup"
PERIOD = 100_000
"""The period that the processor time is shared out in, in microseconds."""

WORKSPACE_BYTES = 1 << 30
"""How much an agent may leave in its workspace; what is there counts as memory that it uses."""

WORKSPACE_FILES = 100_000
END_SECONDS = 10.0


_COUNTS = (
    ("memory", "memory.oom_control", "oom_kill"),
    ("memory", "memory.events", "oom_kill"),
    ("processes", "pids.events", "max"),
)
"""Each limit, and by which line of which file of a group it is seen that it was reached; version 1, then version 2."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`memory` in bytes, `cpus` in processors, `processes` as a number of processes and threads."""

    memory: int = 2 << 30
    cpus: float = 1.0
    processes: int = 512


def settings(version: int, controllers: frozenset[str], limits: Limits) -> Mapping[str, str]:
    """What is written into which file of the group in a hierarchy."""
    found: dict[str, str] = {}
    quota = max(1000, round(limits.cpus * PERIOD))
    if "memory" in controllers:
        found["memory.limit_in_bytes" if version == 1 else "memory.max"] = str(limits.memory)
    if "pids" in controllers:
        found["pids.max"] = str(limits.processes)
    if "cpu" in controllers:
        if version == 1:
            found |= {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(quota)}
        else:
            found["cpu.max"] = f"{quota} {PERIOD}"
    return found


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The agent's group, a folder in each hierarchy that limits something."""

    groups: Sequence[Path]

    def reached(self) -> list[str]:
        """The limits that the agent has run into: `memory` where the kernel ended a process, `processes`."""
        found = [what for what, file, key in _COUNTS if any(_count(group / file, key) for group in self.groups)]
        return list(dict.fromkeys(found))


@contextmanager
def enclosed(run: str, limits: Limits, ledger: Ledger) -> Generator[Enclosure]:
    """The group of a run's agent while the block runs. Raises NoSandbox where it can't be made."""
    name = f"itbc-{run}-agent"
    ledger.intent(KIND, run, {"name": name})
    try:
        yield Enclosure(_create(name, limits, hierarchies()))
    finally:
        remove(name)
        ledger.gone(KIND, run)


def _create(name: str, limits: Limits, found: Sequence[Hierarchy]) -> list[Path]:
    groups: list[Path] = []
    limited: set[str] = set()
    for hierarchy in found:
        wanted = settings(hierarchy.version, hierarchy.controllers, limits)
        if not wanted:
            continue
        group = hierarchy.path / name
        try:
            if hierarchy.version == 2:
                hand_down(hierarchy.path)
            group.mkdir(exist_ok=True)
            for file, value in wanted.items():
                (group / file).write_text(value)
        except OSError as wrong:
            raise NoSandbox(f"can't limit what the agent uses: {group}: {wrong.strerror}") from wrong
        groups.append(group)
        limited |= hierarchy.controllers
    lacking = sorted({"cpu", "memory", "pids"} - limited)
    if lacking:
        raise NoSandbox(f"can't limit what the agent uses: this machine has no cgroups for {', '.join(lacking)}")
    return groups


def remove(name: str) -> bool:
    """End what is in a group and remove it everywhere. Returns whether there was one. Raises OSError where it stays."""
    return remove_groups(name, hierarchies(), END_SECONDS) > 0


def _count(file: Path, key: str) -> int:
    """A line `KEY NUMBER` of a file; 0 where there is none."""
    with suppress(OSError):
        for line in file.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return 0


def mount_workspace(path: Path) -> None:
    """Give a folder a file system of its own that can't grow. Raises OSError."""
    options = f"size={WORKSPACE_BYTES},nr_inodes={WORKSPACE_FILES},mode=0711,nosuid,nodev"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "itbc-agent", str(path)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(f"the agent's workspace can't be mounted: {done.stderr.strip()}")


def unmount_workspace(path: Path) -> None:
    """Take it away again, where it is there, with all that is in it. Raises OSError."""
    if not os.path.ismount(path):
        return
    done = subprocess.run(["umount", "--lazy", str(path)], capture_output=True, text=True, check=False)
    if done.returncode and os.path.ismount(path):
        raise OSError(f"the agent's workspace can't be unmounted: {done.stderr.strip()}")
