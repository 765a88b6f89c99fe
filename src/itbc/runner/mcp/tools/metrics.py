"""Metrics, from Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from itbc.runner.mcp.place import Place, as_text


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """There where metrics are collected."""
    base = place.url("ITBC_PROMETHEUS_URL")
    if not base:
        return []

    def query_metrics(query: str, time: str = "") -> str:
        """Evaluate a PromQL expression at one moment (RFC 3339 or Unix seconds; now, if it is left out)."""
        return _data(place.ask("query_metrics", base, "/api/v1/query", {"query": query, "time": time}))

    def query_metrics_range(query: str, start: str, end: str, step: str = "15s") -> str:
        """Evaluate a PromQL expression from `start` to `end` (RFC 3339 or Unix seconds), every `step`."""
        given = {"query": query, "start": start, "end": end, "step": step}
        return _data(place.ask("query_metrics_range", base, "/api/v1/query_range", given))

    def metric_names(match: str = "") -> str:
        """List the names of all metrics, or of those of the series that a PromQL selector matches."""
        return _data(place.ask("metric_names", base, "/api/v1/label/__name__/values", {"match[]": match}))

    return [query_metrics, query_metrics_range, metric_names]


def _data(answer: dict[str, Any]) -> str:
    data = answer["data"]
    return as_text(data["result"] if isinstance(data, dict) and "result" in data else data)
