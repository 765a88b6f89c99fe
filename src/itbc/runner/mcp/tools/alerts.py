"""Alerts, from Alertmanager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from itbc.runner.mcp.place import Place, as_text


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """There where alerts are collected."""
    base = place.url("ITBC_ALERTMANAGER_URL")
    if not base:
        return []

    def alerts() -> str:
        """List the alerts that are firing, as JSON: labels, annotations, since when."""
        found: list[dict[str, Any]] = place.ask("alerts", base, "/api/v2/alerts", {})
        return as_text([{name: each.get(name) for name in ("labels", "annotations", "startsAt")} for each in found])

    return [alerts]
