"""Removes what the runner itself makes outside of a run's folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from itbc.providers.services import Sweeper
from itbc.runner.processes import ProcessIdentity, kill
from itbc.runner.sandbox.limits import KIND as CGROUP_KIND
from itbc.runner.sandbox.limits import remove, unmount_workspace
from itbc.runner.sandbox.programs import PROCESS_KIND
from itbc.runner.steps.ready import WORKSPACE_KIND


def sweep_process(identity: str, details: Mapping[str, Any]) -> Sequence[str]:
    """End an agent's first process, and with it all the others of its namespace."""
    process = ProcessIdentity(int(details["pid"]), int(details["started"]))
    return [f"agent process {identity}"] if kill(process) else []


def sweep_workspace(identity: str, details: Mapping[str, Any]) -> Sequence[str]:
    """Remove an agent's workspace."""
    path = Path(details["path"])
    if not path.exists():
        return []
    unmount_workspace(path)
    shutil.rmtree(path)
    return [f"agent workspace of {identity}"]


def sweep_cgroup(identity: str, details: Mapping[str, Any]) -> Sequence[str]:
    """Remove an agent's cgroup, with whatever is still in it."""
    return [f"cgroup of the agent of {identity}"] if remove(str(details["name"])) else []


SWEEPERS: Mapping[str, Sweeper] = {
    PROCESS_KIND: sweep_process,
    CGROUP_KIND: sweep_cgroup,
    WORKSPACE_KIND: sweep_workspace,
}
