"""Traces, from Jaeger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from itbc.runner.mcp.place import Place, as_text

_TAGS = ("error", "http.response.status_code", "http.route", "otel.status_description", "server.address", "url.full")


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """There where traces are collected."""
    base = place.url("ITBC_TRACES_URL")
    if not base:
        return []

    def trace_services() -> str:
        """List the services that have reported spans."""
        return as_text(place.ask("trace_services", base, "/api/services", {})["data"] or [])

    def query_traces(
        service: str,
        *,
        operation: str = "",
        tags: str = "",
        lookback: str = "15m",
        min_duration: str = "",
        limit: Annotated[int, Field(ge=1, le=200)] = 10,
    ) -> str:
        """Find traces that go through a service, newest first, each with its spans in short, as JSON.

        `tags` is a JSON object of span attributes, for example {"http.response.status_code": "502"};
        `min_duration` is like 500ms.
        """
        given = {
            "service": service,
            "operation": operation,
            "tags": tags,
            "lookback": lookback,
            "minDuration": min_duration,
            "limit": limit,
        }
        found = place.ask("query_traces", base, "/api/traces", given)["data"] or []
        return as_text([_short(trace) for trace in found])

    return [trace_services, query_traces]


def _short(trace: Mapping[str, Any]) -> dict[str, Any]:
    """A trace with what says who called whom, how long it took and what came out; durations in microseconds."""
    services = {key: process["serviceName"] for key, process in trace["processes"].items()}
    spans = sorted(trace["spans"], key=lambda span: span["startTime"])
    return {
        "traceID": trace["traceID"],
        "spans": [
            {
                "spanID": span["spanID"],
                "parent": next((each["spanID"] for each in span.get("references", [])), ""),
                "service": services[span["processID"]],
                "operation": span["operationName"],
                "start": span["startTime"],
                "duration": span["duration"],
                "tags": {tag["key"]: tag["value"] for tag in span["tags"] if tag["key"] in _TAGS},
            }
            for span in spans
        ],
    }
