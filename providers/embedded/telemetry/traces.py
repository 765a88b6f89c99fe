"""Traces: Jaeger, which takes OTLP from the pods and answers queries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from itbc.contracts.mask import Mask
from itbc.providers.embedded.components import Component
from itbc.providers.embedded.record import ClusterState
from itbc.providers.embedded.telemetry.store import PROGRAMS, Store

QUERY_PORT = 16686
QUERY_GRPC_PORT = 16685
HEALTH_PORT = 13133
OTLP_GRPC_PORT = 4317
OTLP_HTTP_PORT = 4318
"""Pods send to their node's address (`status.hostIP`) here, as to any collector that runs on every node."""

CONFIG = "/etc/jaeger/config.yaml"

TRACES_KEPT = 20_000
"""The oldest go when there are more; a trace of the shop takes about 10 KiB of memory."""

_STORE = "memory"


def configuration(address: str, masks: Sequence[Mask]) -> dict[str, Any]:
    """Jaeger's configuration, in the OpenTelemetry Collector's words: masked spans are dropped before the store."""
    processors: dict[str, Any] = {"batch": {"timeout": "200ms"}}
    if masks:
        conditions = [_condition(mask) for mask in sorted(masks)]
        processors["filter"] = {"error_mode": "ignore", "traces": {"span": conditions}}
    return {
        "service": {
            "extensions": ["jaeger_storage", "jaeger_query", "healthcheckv2"],
            "pipelines": {
                "traces": {
                    "receivers": ["otlp"],
                    "processors": sorted(processors, reverse=True),
                    "exporters": ["jaeger_storage_exporter"],
                }
            },
            "telemetry": {
                "resource": {"service.name": "jaeger"},
                "metrics": {"level": "none"},
                "logs": {"level": "info"},
            },
        },
        "extensions": {
            "healthcheckv2": {"use_v2": True, "http": {"endpoint": f"{address}:{HEALTH_PORT}"}},
            "jaeger_query": {
                "storage": {"traces": _STORE},
                # Otherwise it reports traces of its own to itself, and waits for that at its end.
                "enable_tracing": False,
                "http": {"endpoint": f"{address}:{QUERY_PORT}"},
                "grpc": {"endpoint": f"127.0.0.1:{QUERY_GRPC_PORT}"},
            },
            "jaeger_storage": {"backends": {_STORE: {"memory": {"max_traces": TRACES_KEPT}}}},
        },
        "receivers": {
            "otlp": {
                "protocols": {
                    "grpc": {"endpoint": f"{address}:{OTLP_GRPC_PORT}"},
                    "http": {"endpoint": f"{address}:{OTLP_HTTP_PORT}"},
                }
            }
        },
        "processors": processors,
        "exporters": {"jaeger_storage_exporter": {"trace_storage": _STORE}},
    }


def _condition(mask: Mask) -> str:
    """What the filter drops, in OTTL: a text in double quotes is written as in JSON."""
    return f'resource.attributes["service.name"] == {json.dumps(mask.service)}' if mask.service else "true"


def _arrange(state: ClusterState, masks: Sequence[Mask]) -> Mapping[str, Mapping[str, Any]]:
    return {CONFIG: configuration(state.address, masks)}


def _components(state: ClusterState, masks: Sequence[Mask]) -> list[Component]:  # noqa: ARG001 - they are in the file
    return [Component("jaeger", [f"{PROGRAMS}/jaeger", f"--config={CONFIG}"])]


def _health(state: ClusterState) -> Mapping[str, str]:
    return {
        "Jaeger": f"http://{state.address}:{HEALTH_PORT}/status",
        "Jaeger's query service": f"{_url(state)}/api/services",
    }


def _url(state: ClusterState) -> str:
    return f"http://{state.address}:{QUERY_PORT}"


TRACES = Store(
    title="Jaeger",
    programs=("jaeger",),
    names=("jaeger",),
    data=(),
    arrange=_arrange,
    components=_components,
    health=_health,
    url=_url,
)
"""Jaeger, with its traces in memory."""
