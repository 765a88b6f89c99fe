"""What a supervisor is told, as it lies on disk. Standard library only: the node's first process reads this."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Start:
    """A program to keep running: its name, which is also its log's, and its command line."""

    name: str
    command: Sequence[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to set the node up and what to start first.

    `program` is the node program on this machine and `program_names` the names
    it gets in the node; `cni_programs` the folder of the pod network's plug-ins.
    `masks` are host-wide sysctls (as paths below /proc/sys) that the node may
    believe to have these values; `sysctls` are set, in the node's own network namespace.
    """

    hostname: str
    cgroups: Sequence[str]
    program: str
    program_names: Sequence[str]
    cni_programs: str
    address: str
    prefix: int
    guard: str
    masks: Mapping[str, str]
    sysctls: Mapping[str, str]
    first: Sequence[Start]

    def to_json(self) -> str:
        """The text of the plan's file."""
        return json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"


def read(path: Path) -> Plan:
    """Read a plan that `to_json` wrote."""
    data = json.loads(path.read_text())
    data["first"] = [Start(**entry) for entry in data["first"]]
    return Plan(**data)
