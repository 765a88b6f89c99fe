"""What an agent sees of metrics and alerts where some are masked: a Prometheus and an Alertmanager of its own.

The cluster's own ones stay whole, since the verdict is made from them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itbc.contracts.mask import Mask
from itbc.providers.embedded import monitoringfiles
from itbc.providers.embedded.components import Component

PROMETHEUS = "prometheus-view"
ALERTMANAGER = "alertmanager-view"
PROMETHEUS_PORT = 9190
ALERTMANAGER_PORT = 9193
CONFIG = "/etc/prometheus/view.yml"
DATA = {PROMETHEUS: "lib/prometheus-view", ALERTMANAGER: "lib/alertmanager-view"}
"""Where each keeps what it has, below the node's /var."""

_OWNERS = ("container", "daemonset", "deployment", "replicaset", "service", "statefulset")
"""Labels that name a service, or what runs it; replica sets have a hash behind it."""


@dataclass(frozen=True, slots=True)
class View:
    """What is kept from an agent: metrics of some `services`, or of `everything`; `alerts`."""

    services: tuple[str, ...]
    everything: bool
    alerts: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The components that are needed. Metrics show which alerts there are, so both are needed to hide these."""
        if self.alerts:
            return (PROMETHEUS, ALERTMANAGER)
        return (PROMETHEUS,) if self.services or self.everything else ()


def view_of(masks: Sequence[Mask]) -> View:
    """The view that masks ask for."""
    metrics = [mask for mask in masks if mask.kind == "metrics"]
    return View(
        services=tuple(sorted({mask.service for mask in metrics if mask.service})),
        everything=any(not mask.service for mask in metrics),
        alerts=any(mask.kind == "alerts" for mask in masks),
    )


def configuration(view: View, address: str, node_name: str) -> dict[str, Any]:
    """The configuration of the view's Prometheus: the same targets without what is hidden; no rules, so no alerts."""
    whole = monitoringfiles.prometheus(address, node_name)
    hidden = [rule for service in view.services for rule in _without(service)]
    # A target that is gone has no `up` and the like either, which the second list doesn't reach.
    scrapes = [
        each | {name: [*each.get(name, []), *hidden] for name in ("relabel_configs", "metric_relabel_configs")}
        for each in whole["scrape_configs"]
    ]
    return {"global": whole["global"], "scrape_configs": [] if view.everything else scrapes}


def _without(service: str) -> list[dict[str, Any]]:
    """Rules that drop every series of a service, whichever label says so."""
    name = re.escape(service)
    rules = [{"source_labels": [label], "action": "drop", "regex": f"{name}(-[0-9a-f]{{8,10}})?"} for label in _OWNERS]
    return [*rules, {"source_labels": ["pod"], "action": "drop", "regex": f"{name}(-[a-z0-9]+){{1,2}}"}]


def components(view: View, address: str, retention: str, alertmanager: str) -> list[Component]:
    """The programs; `alertmanager` is what that one is called here. Nobody sends alerts to the view's."""
    made = {
        PROMETHEUS: [
            "prometheus",
            f"--config.file={CONFIG}",
            "--scrape.discovery-reload-interval=1s",
            f"--storage.tsdb.path=/var/{DATA[PROMETHEUS]}",
            f"--storage.tsdb.retention.time={retention}",
            f"--web.listen-address={address}:{PROMETHEUS_PORT}",
        ],
        ALERTMANAGER: [
            alertmanager,
            "--cluster.listen-address=",
            f"--config.file={monitoringfiles.ALERTMANAGER_CONFIG}",
            f"--storage.path=/var/{DATA[ALERTMANAGER]}",
            f"--web.listen-address={address}:{ALERTMANAGER_PORT}",
        ],
    }
    return [Component(name, made[name]) for name in view.names]


def urls(view: View, address: str) -> Mapping[str, str]:
    """The base URL of each component."""
    ports = {PROMETHEUS: PROMETHEUS_PORT, ALERTMANAGER: ALERTMANAGER_PORT}
    return {name: f"http://{address}:{ports[name]}" for name in view.names}
