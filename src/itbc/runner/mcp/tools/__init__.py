"""The tools, one a file. Each offers itself, or not, to a place; a new one needs its file and its name here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from itbc.runner.mcp.place import Place
from itbc.runner.mcp.tools import alerts, events, kubectl, logs, metrics, submit, task, topology, traces

_ALL: Sequence[Callable[[Place], Sequence[Callable[..., Any]]]] = (
    task.offer,
    topology.offer,
    alerts.offer,
    metrics.offer,
    logs.offer,
    traces.offer,
    events.offer,
    kubectl.offer,
    submit.offer,
)


def offered(place: Place) -> list[Callable[..., Any]]:
    """What an agent can call there. A tool's name is its function's, its description the docstring."""
    return [tool for offer in _ALL for tool in offer(place)]
