"""Events of Kubernetes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from itbc.runner.mcp.place import Place


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """Always there: whether events may be read is said by the cluster."""

    def events(namespace: str = "") -> str:
        """List the Kubernetes events of a namespace (your own, if it is left out), oldest first."""
        where = [f"--namespace={namespace}"] if namespace else []
        return place.run(["kubectl", "get", "events", "--sort-by=.lastTimestamp", *where])

    return [events]
