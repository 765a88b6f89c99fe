"""A store of one signal: started in a cluster's node, watched, ended, forgotten."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itbc.contracts.mask import Mask
from itbc.providers.embedded import control
from itbc.providers.embedded.components import Component
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.files import write
from itbc.providers.embedded.liveness import host_lives, wait_until_answering
from itbc.providers.embedded.record import ClusterState
from itbc.providers.embedded.waiting import wait_for
from itbc.providers.services import Services
from itbc.stacks.toolchain import ToolchainError, telemetry_program

PROGRAMS = "/var/lib/telemetry"
"""Where the programs lie in the node: copies, since a node sees nothing of this machine's cache."""

_PATIENCE = 60.0
_SHORT_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Store:
    """What one signal is collected with.

    `programs` are those of the toolchain that it needs, `names` its components
    as the supervisor lists them, `data` the folders (below the node's /var) with what was
    collected. The functions are given the cluster, some with what must not be
    collected, too: `arrange` prepares it and returns configuration files by path in the node, `components` are what is
    started, in order, `health` has the URLs that must answer, `url` is what an agent asks.
    """

    title: str
    programs: Sequence[str]
    names: Sequence[str]
    data: Sequence[str]
    arrange: Callable[[ClusterState, Sequence[Mask]], Mapping[str, Mapping[str, Any]]]
    components: Callable[[ClusterState, Sequence[Mask]], Sequence[Component]]
    health: Callable[[ClusterState], Mapping[str, str]]
    url: Callable[[ClusterState], str]


def start(store: Store, state: ClusterState, masks: Sequence[Mask], services: Services) -> str:
    """Start a store in a running cluster and wait until all of it answers. Repeatable. Returns its URL.

    Raises EmbeddedError.
    """
    layout = state.layout
    for name in store.programs:
        _bring(name, layout.inside(PROGRAMS), services)
    for folder in store.data:
        (layout.var / folder).mkdir(mode=0o755, parents=True, exist_ok=True)
    for path, content in store.arrange(state, masks).items():
        # JSON is YAML, so one writer does.
        write(layout.inside(path), json.dumps(content, indent=2, sort_keys=True) + "\n", 0o644)
    for component in store.components(state, masks):
        control.start(layout, component.name, component.command)
    wait_until_answering(state, store.health(state), _PATIENCE)
    services.progress(f"cluster {state.name}: {store.title} ready")
    return store.url(state)


def stop(store: Store, state: ClusterState) -> None:
    """End a store and forget what it has collected. Repeatable. Raises EmbeddedError."""
    end(state, store.title, store.names, store.data)


def lives(store: Store, state: ClusterState) -> bool:
    """Whether all of it runs and answers."""
    return answering(state, store.names, store.health(state))


def end(state: ClusterState, title: str, names: Collection[str], data: Sequence[str]) -> None:
    """End components of a running cluster and remove folders (below the node's /var). Repeatable.

    Raises EmbeddedError.
    """
    for name in sorted(_running(state).intersection(names)):
        control.stop(state.layout, name)
    wait_for(f"the end of {title}", lambda: _running(state).isdisjoint(names), _PATIENCE)
    for folder in data:
        shutil.rmtree(state.layout.var / folder, ignore_errors=True)


def answering(state: ClusterState, names: Collection[str], health: Mapping[str, str]) -> bool:
    """Whether the cluster's host and these of its components run, and what must answer at a URL does."""
    if not host_lives(state):
        return False
    try:
        if not _running(state).issuperset(names):
            return False
        wait_until_answering(state, health, _SHORT_PATIENCE)
    except EmbeddedError:
        return False
    return True


def _running(state: ClusterState) -> set[str]:
    return {each["name"] for each in control.listed(state.layout)}


def flags(given: Mapping[str, str]) -> list[str]:
    """A command line's flags, in order, as Go's standard library takes them."""
    return [f"-{name}={given[name]}" for name in sorted(given)]


def _bring(name: str, folder: Path, services: Services) -> None:
    """Have a program in the node, under its name."""
    try:
        program = telemetry_program(name, services.cache, services.progress)
    except ToolchainError as wrong:
        raise EmbeddedError(wrong.message, wrong.remedy) from wrong
    target = folder / name
    if target.exists():
        # It may be running, and is the same: a cluster's programs are never exchanged.
        return
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    part = folder / f"{name}.part"
    try:
        shutil.copyfile(program, part)
        part.chmod(0o755)
        part.replace(target)
    except OSError as wrong:
        raise EmbeddedError(f"{name} can't be brought into the node: {wrong}", "free disk space") from wrong
