"""Wait for an object to get ready or to go, by watching it."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import Any

from itbc.providers.kubernetes.client import ApiError, Client, ClusterError, Object
from itbc.providers.kubernetes.readiness import Readiness, readiness
from itbc.providers.kubernetes.reasons import reasons
from itbc.providers.kubernetes.refs import Ref

_TRY_AGAIN = frozenset({410, 429, 500, 503, 504})
"""What an API server says when a watch must be begun anew: its history is gone, or it is busy."""

_OWNERS = frozenset({"apps/v1", "batch/v1"})


class NotReadyError(ClusterError):
    """An object didn't get ready, or didn't go, in time. The message says why, as far as the cluster tells."""


def wait_ready(client: Client, ref: Ref, seconds: float, progress: Callable[[str], None] = lambda _: None) -> Object:
    """Wait until an object is ready; gives it as it is then. Raises NotReadyError.

    `progress` is told what is still missing, whenever that changes.
    """
    state = Readiness(ready=False)
    seen: Object = {}
    with closing(_states(client, ref, seconds)) as states:
        for thing in states:
            if thing is None:
                raise NotReadyError(f"{ref} was deleted while it was waited for")
            before, state, seen = state, _judge(client, thing), thing
            if state.ready:
                return thing
            if state.failed:
                raise NotReadyError(_explain(f"{ref} failed: {state.why}", client, ref, thing))
            if state.why != before.why:
                progress(f"{ref}: {state.why}")
    raise NotReadyError(_explain(f"{ref} isn't ready after {seconds:g} s: {state.why}", client, ref, seen))


def wait_gone(client: Client, ref: Ref, seconds: float) -> None:
    """Wait until there is no such object. Raises NotReadyError."""
    seen: Object = {}
    with closing(_states(client, ref, seconds)) as states:
        for thing in states:
            if thing is None:
                return
            seen = thing
    raise NotReadyError(_still_there(ref, seen, seconds))


def remove(client: Client, ref: Ref, seconds: float) -> bool:
    """Delete an object, wait until it is gone, and say whether there was one. Raises NotReadyError.

    The pods of a workload go first. Other objects go at once: the garbage
    collector, which would have to let them go, learns of new kinds only slowly.
    """
    if not client.delete(ref, propagation="Foreground" if ref.api_version in _OWNERS else "Background"):
        return False
    wait_gone(client, ref, seconds)
    return True


def _states(client: Client, ref: Ref, seconds: float) -> Generator[Object | None, None, None]:
    """An object as it is now and after each change, None where there is none, until the time is over."""
    deadline = client.monotonic() + seconds
    while True:
        thing = client.get(ref)
        yield thing
        left = deadline - client.monotonic()
        if left <= 0:
            return
        if thing is not None:
            yield from _changes(client, ref, thing, left)
        # The watch ended because its time was over or the connection broke; in the latter case, not at once again.
        client.pause(0.1)


def _changes(client: Client, ref: Ref, thing: Object, seconds: float) -> Generator[Object | None, None, None]:
    namespace = ref.namespace or client.namespace
    watch = client.watch(
        ref.api_version,
        ref.kind,
        namespace,
        since=thing["metadata"]["resourceVersion"],
        fields=f"metadata.name={ref.name}",
        seconds=min(math.ceil(seconds), 300),
    )
    try:
        # Closed by name: whoever has seen enough leaves in the middle, and the connection mustn't wait for that.
        with closing(watch):
            for event in watch:
                if event.type in {"ADDED", "MODIFIED", "DELETED"}:
                    yield None if event.type == "DELETED" else event.object
    except ApiError as wrong:
        if wrong.status not in _TRY_AGAIN:
            raise


def _judge(client: Client, thing: Object) -> Readiness:
    state = readiness(thing)
    if thing.get("kind") == "PersistentVolumeClaim" and not state.ready and _binds_late(client, thing):
        return Readiness(ready=True)
    return state


def _binds_late(client: Client, claim: Object) -> bool:
    """Whether a claim is bound only when a pod uses it, so that waiting for it alone would never end."""
    name = claim["spec"].get("storageClassName")
    found = client.get(Ref("storage.k8s.io/v1", "StorageClass", name)) if name else None
    return found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"


def _explain(problem: str, client: Client, ref: Ref, thing: Mapping[str, Any]) -> str:
    try:
        found = reasons(client, ref, thing)
    except ClusterError as wrong:
        found = [f"and the cluster doesn't say why: {wrong}"]
    return "\n".join([problem, *(f"- {reason}" for reason in found)])


def _still_there(ref: Ref, thing: Mapping[str, Any], seconds: float) -> str:
    metadata = thing.get("metadata", {})
    finalizers = ", ".join(metadata.get("finalizers") or ())
    held = f"; finalizers hold it: {finalizers}" if finalizers else ""
    told = [c["message"] for c in thing.get("status", {}).get("conditions") or () if c.get("message")]
    asked = "being deleted" if metadata.get("deletionTimestamp") else "there"
    return "\n".join([f"{ref} is still {asked} after {seconds:g} s{held}", *(f"- {message}" for message in told)])
