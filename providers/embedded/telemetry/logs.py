"""Logs: VictoriaLogs, and its agent, which reads what every container prints."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any

from itbc.contracts.mask import Mask
from itbc.providers.embedded import pki
from itbc.providers.embedded.components import Component
from itbc.providers.embedded.kubeconfig import write_kubeconfig
from itbc.providers.embedded.layout import KUBERNETES
from itbc.providers.embedded.liveness import open_api
from itbc.providers.embedded.record import ClusterState
from itbc.providers.embedded.rights import grant
from itbc.providers.embedded.telemetry.store import PROGRAMS, Store, flags

QUERY_PORT = 9428
STORE_PORT = 9429
AGENT_PORT = 9430

USER = "logs"
"""What the agent is called in the cluster."""

SERVICE_LABEL = "kubernetes.pod_labels.app.kubernetes.io/name"
"""Which field of a log line says whose it is."""

_DATA = "lib/victoria-logs"
_AGENT_DATA = "lib/vlagent"
_KUBECONFIG = f"{KUBERNETES}/{USER}.conf"
_COMMON = {
    # It waits this long for connections that others keep open, at its end.
    "http.maxGracefulShutdownDuration": "500ms",
    "memory.allowedBytes": "64MiB",
}


def exclusion(masks: Sequence[Mask]) -> str:
    """Which containers aren't read at all, in LogsQL; empty where all are."""
    if any(not mask.service for mask in masks):
        return "*"
    return " or ".join(f"{json.dumps(SERVICE_LABEL)}:={json.dumps(mask.service)}" for mask in sorted(masks))


def _arrange(state: ClusterState, masks: Sequence[Mask]) -> Mapping[str, Mapping[str, Any]]:  # noqa: ARG001
    """Give the agent an identity that may read which containers there are."""
    layout = state.layout
    pki.issue(layout.pki, USER, pki.load_authority(layout.pki, "ca"), pki.Subject(USER), dt.datetime.now(dt.UTC))
    write_kubeconfig(layout.inside(_KUBECONFIG), state.node_name, "127.0.0.1", layout.pki, USER)
    rule = {"apiGroups": [""], "resources": ["namespaces", "nodes", "pods"], "verbs": ["get", "list", "watch"]}
    with open_api(state) as api:
        for path, manifest in grant(USER, [rule]):
            api.apply(path, manifest)
    return {}


def _components(state: ClusterState, masks: Sequence[Mask]) -> list[Component]:
    store = {
        **_COMMON,
        "httpListenAddr": f"127.0.0.1:{STORE_PORT}",
        "retentionPeriod": "7d",
        "storageDataPath": f"/var/{_DATA}",
    }
    query = {
        **_COMMON,
        "httpListenAddr": f"{state.address}:{QUERY_PORT}",
        # Who may ask can't write: that is the business of the store behind it.
        "insert.disable": "true",
        "storageNode": f"127.0.0.1:{STORE_PORT}",
    }
    agent = {
        **_COMMON,
        "httpListenAddr": f"127.0.0.1:{AGENT_PORT}",
        "kubernetesCollector": "true",
        "remoteWrite.url": f"http://127.0.0.1:{STORE_PORT}/insert/native",
        "tmpDataPath": f"/var/{_AGENT_DATA}",
    }
    if excluded := exclusion(masks):
        agent["kubernetesCollector.excludeFilter"] = excluded
    return [
        Component("victoria-logs", [f"{PROGRAMS}/victoria-logs", *flags(store)]),
        Component("victoria-logs-query", [f"{PROGRAMS}/victoria-logs", *flags(query)]),
        Component("vlagent", ["env", f"KUBECONFIG={_KUBECONFIG}", f"{PROGRAMS}/vlagent", *flags(agent)]),
    ]


def _health(state: ClusterState) -> Mapping[str, str]:
    return {
        "VictoriaLogs": f"{_url(state)}/health",
        "VictoriaLogs' store": f"{_url(state)}/select/logsql/query?query=*&limit=1",
    }


def _url(state: ClusterState) -> str:
    return f"http://{state.address}:{QUERY_PORT}"


LOGS = Store(
    title="VictoriaLogs",
    programs=("victoria-logs", "vlagent"),
    names=("victoria-logs", "victoria-logs-query", "vlagent"),
    data=(_DATA, _AGENT_DATA),
    arrange=_arrange,
    components=_components,
    health=_health,
    url=_url,
)
"""VictoriaLogs: a store that can be written to by its agent alone, and one before it that can be asked."""
