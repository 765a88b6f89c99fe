"""Removing a cluster, however much or little of it there is, and nothing else."""

from __future__ import annotations

import shutil
from ipaddress import IPv4Network
from pathlib import Path

from itbc.providers.cgroups import hierarchies
from itbc.providers.embedded import cgroups, network, process, record
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.layout import Layout
from itbc.providers.embedded.spec import DEFAULT_RANGE, cgroup_name, cluster_name
from itbc.providers.embedded.waiting import wait_for

_PATIENCE = 60.0
_SHORT_PATIENCE = 10.0


def destroy(identity: str, folder: Path, pool: IPv4Network = DEFAULT_RANGE) -> list[str]:
    """Remove everything of the cluster with this id and state folder. Says what was there; nothing where nothing was.

    The order matters: first the processes, with which the namespaces, mounts
    and inner links go; then the link; then the cgroups; last the folder, by
    which an interrupted removal is found again. Raises EmbeddedError when something can't be removed.
    """
    layout = Layout(folder)
    _refuse_another(identity, folder)
    removed = _end_processes(identity, layout)
    removed += network.release(identity, pool)
    groups = cgroups.remove(cgroup_name(identity), hierarchies())
    if groups:
        removed.append(f"{groups} cgroups")
    if folder.exists():
        _remove_folder(folder)
        removed.append(f"state folder {folder}")
    return removed


def _remove_folder(folder: Path) -> None:
    """Remove the state folder, in spite of a process that is just starting in it and about to find it gone."""
    reasons: list[OSError] = []

    def gone() -> bool:
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            return not folder.exists()
        except OSError as wrong:
            reasons.append(wrong)
            return False
        return True

    try:
        wait_for(f"the end of the state folder {folder}", gone, _SHORT_PATIENCE)
    except EmbeddedError as wrong:
        raise EmbeddedError(f"the state folder {folder} can't be removed: {reasons[-1]}") from wrong


def _refuse_another(identity: str, folder: Path) -> None:
    """What is removed with all that is in it must be what it is taken for."""
    if not folder.is_absolute() or folder.name != cluster_name(identity):
        raise EmbeddedError(f"{folder} can't be the state folder of the cluster {identity}")
    state = record.load(folder)
    if state is not None and state.identity != identity:
        raise EmbeddedError(f"{folder} is the state folder of the cluster {state.identity}, not of {identity}")


def _end_processes(identity: str, layout: Layout) -> list[str]:
    ended = 0
    host = process.load(layout.host)
    if host is not None and process.alive(host):
        # The namespace's first process: with it the kernel ends all others inside.
        inside = [child for pid in process.children(host.pid) if (child := process.identify(pid))]
        ended += sum(process.kill(child) for child in inside)
        if not inside:
            ended += process.kill(host)
        wait_for("the end of the node host", lambda: _ended(host), _PATIENCE)
    name = cgroup_name(identity)
    found = hierarchies()

    def empty() -> bool:
        for member in cgroups.members(name, found):
            process.kill(member)
        return not cgroups.members(name, found)

    # Where the record is missing or the outer end died first, the cgroups still know who belongs to the cluster.
    if cgroups.members(name, found):
        wait_for(f"the end of the processes in the cgroup {name}", empty, _PATIENCE)
        ended += 1
    if host is not None:
        process.reap(host.pid)
    return ["node host and all its processes"] if ended else []


def _ended(host: process.ProcessId) -> bool:
    process.reap(host.pid)
    return not process.alive(host)
