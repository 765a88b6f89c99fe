"""Logs of containers, from VictoriaLogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import Field

from itbc.runner.mcp.place import Place, as_text


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """There where logs are collected."""
    base = place.url("ITBC_LOGS_URL")
    if not base:
        return []

    def query_logs(query: str, limit: Annotated[int, Field(ge=1, le=1000)] = 100) -> str:
        """Search the logs of all containers with a LogsQL expression; one JSON object a line.

        Fields: _time, _msg, kubernetes.container_name, kubernetes.pod_name, kubernetes.pod_namespace, and those that
        the program itself writes. For example: _time:5m kubernetes.container_name:=checkout error
        """
        return as_text(place.ask("query_logs", base, "/select/logsql/query", {"query": query, "limit": limit}))

    return [query_logs]
