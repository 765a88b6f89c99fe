"""How the resources declare their attributes and say what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tf.schema import Attribute
from tf.types import String, Unknown
from tf.utils import Diagnostics

from itbc.contracts import mask
from itbc.providers.embedded import record
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.liveness import host_lives
from itbc.providers.embedded.record import ClusterState

State = dict[str, Any]


def required(name: str, description: str, kind: Any = None, *, replace: bool = True) -> Attribute:
    """An argument. With `replace`, another value means another thing."""
    return Attribute(name, kind or String(), description=description, required=True, requires_replace=replace)


def computed(name: str, description: str) -> Attribute:
    """A text that is known after creation."""
    return Attribute(name, String(), description=description, computed=True)


def known(config: State, name: str) -> Any:
    """A configured value; None while it isn't known yet."""
    value = config.get(name)
    return None if value is Unknown else value


def refuse(diagnostics: Diagnostics, what: str, wrong: EmbeddedError) -> None:
    """Make an error diagnostic of a failure, with its remedy."""
    detail = f"{wrong}\n\n{wrong.remedy}" if wrong.remedy else f"{wrong}"
    diagnostics.add_error(what, detail)


def living_record(state: State) -> ClusterState | None:
    """The record of the cluster that a resource belongs to; None where there is no such cluster (any more)."""
    return record.find(Path(state["state_dir"]), state["cluster"])


def cluster_record(state: State) -> ClusterState:
    """As `living_record`. Raises EmbeddedError where there is none."""
    found = living_record(state)
    if found is None:
        raise EmbeddedError(f"there is no cluster {state['cluster']} below {state['state_dir']}")
    return found


def delete_inside(diagnostics: Diagnostics, state: State, what: str, delete: Callable[[ClusterState], None]) -> None:
    """Delete what lives in a cluster, if there still is one. `what` begins the sentence that says that it can't be."""
    cluster = living_record(state)
    if cluster is None or not host_lives(cluster):
        return
    try:
        delete(cluster)
    except EmbeddedError as wrong:
        if host_lives(cluster):
            refuse(diagnostics, what, wrong)


def masks_of(state: State) -> list[mask.Mask]:
    """The argument `masks` of a resource. Raises EmbeddedError for a text that isn't a list of masks."""
    try:
        return mask.split(state["masks"])
    except mask.BadMask as wrong:
        raise EmbeddedError(f"masks: {wrong}", wrong.help) from wrong
