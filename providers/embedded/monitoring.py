"""Prometheus, Alertmanager and the metrics of object state, beside a cluster's own programs in its node."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itbc.contracts.mask import Mask
from itbc.providers.embedded import control, monitoringfiles, pki, tools
from itbc.providers.embedded.components import Component
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.files import write
from itbc.providers.embedded.kubeconfig import write_kubeconfig
from itbc.providers.embedded.layout import KUBERNETES, PROGRAMS
from itbc.providers.embedded.liveness import open_api, wait_until_answering
from itbc.providers.embedded.record import ClusterState
from itbc.providers.embedded.telemetry import store
from itbc.providers.embedded.telemetry import view as views
from itbc.providers.embedded.telemetry.view import View, view_of

_PATIENCE = 60.0
_RETENTION = "2d"
_ALERTMANAGERS = ("prometheus-alertmanager", "alertmanager")
NAMES = ("prometheus", "alertmanager", "object-metrics", "pod-targets")
"""What runs for it, as the supervisor lists it."""

_DATA = ("lib/prometheus", "lib/alertmanager")


@dataclass(frozen=True, slots=True)
class Monitoring:
    """The base URLs, reachable from this machine. What an agent is shown is the whole unless something is masked."""

    prometheus: str
    alertmanager: str
    shown_prometheus: str
    shown_alertmanager: str


def urls(state: ClusterState, masks: Sequence[Mask] = ()) -> Monitoring:
    """Where a cluster's monitoring is, if there is one."""
    prometheus = f"http://{state.address}:{monitoringfiles.PROMETHEUS_PORT}"
    alertmanager = f"http://{state.address}:{monitoringfiles.ALERTMANAGER_PORT}"
    shown = views.urls(view_of(masks), state.address)
    return Monitoring(
        prometheus=prometheus,
        alertmanager=alertmanager,
        shown_prometheus=shown.get(views.PROMETHEUS, prometheus),
        shown_alertmanager=shown.get(views.ALERTMANAGER, alertmanager),
    )


def start(
    state: ClusterState,
    rules: Path,
    namespaces: Sequence[str],
    masks: Sequence[Mask],
    progress: Callable[[str], None],
) -> Monitoring:
    """Start the monitoring of a running cluster and wait until all of it answers. Repeatable.

    `rules` is a file of Prometheus rules, `namespaces` where pods are scraped
    (none: everywhere), `masks` what an agent must not see. Raises
    EmbeddedError; with Prometheus' words where the rules are wrong.
    """
    check_rules(rules)
    view = view_of(masks)
    _configure(state, rules, view)
    with open_api(state) as api:
        for path, manifest in monitoringfiles.rights():
            api.apply(path, manifest)
    for component in _components(state, namespaces, view):
        control.start(state.layout, component.name, component.command)
    wait_until_answering(state, _health(state, view), _PATIENCE)
    progress(f"cluster {state.name}: monitoring ready")
    return urls(state, masks)


def stop(state: ClusterState) -> None:
    """End the monitoring of a running cluster and forget what it has collected. Repeatable."""
    store.end(state, "the monitoring", (*NAMES, *views.DATA), (*_DATA, *views.DATA.values()))


def lives(state: ClusterState, masks: Sequence[Mask] = ()) -> bool:
    """Whether all of it runs and answers."""
    view = view_of(masks)
    return store.answering(state, (*NAMES, *view.names), _health(state, view))


def check_rules(rules: Path) -> None:
    """Raises EmbeddedError with Prometheus' own words where a rules file is missing or wrong."""
    if not rules.is_file():
        raise EmbeddedError(f"the rules file {rules} doesn't exist")
    done = tools.run(("promtool", "check", "rules", "--lint=none", str(rules)))
    if done.returncode:
        raise EmbeddedError(f"Prometheus refuses the rules {rules}: {(done.stderr or done.stdout).strip()[-2000:]}")


def _configure(state: ClusterState, rules: Path, view: View) -> None:
    layout = state.layout
    authority = pki.load_authority(layout.pki, "ca")
    now = dt.datetime.now(dt.UTC)
    for user in (monitoringfiles.PROMETHEUS_USER, monitoringfiles.OBJECT_METRICS_USER):
        pki.issue(layout.pki, user, authority, pki.Subject(user), now)
        write_kubeconfig(layout.etc / f"kubernetes/{user}.conf", state.node_name, "127.0.0.1", layout.pki, user)
    _json(state, monitoringfiles.CONFIG, monitoringfiles.prometheus(state.address, state.node_name))
    _json(state, monitoringfiles.ALERTMANAGER_CONFIG, monitoringfiles.alertmanager())
    write(layout.inside(monitoringfiles.RULES), rules.read_bytes(), 0o644)
    layout.inside(monitoringfiles.TARGETS).parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if view.names:
        _json(state, views.CONFIG, views.configuration(view, state.address, state.node_name))
    for folder in (*_DATA, *(views.DATA[name] for name in view.names)):
        (layout.var / folder).mkdir(mode=0o755, parents=True, exist_ok=True)


def _json(state: ClusterState, path: str, content: dict[str, Any]) -> None:
    # JSON is YAML, so one writer does.
    write(state.layout.inside(path), json.dumps(content, indent=2, sort_keys=True) + "\n", 0o644)


def _components(state: ClusterState, namespaces: Sequence[str], view: View) -> list[Component]:
    prometheus_flags = {
        "config.file": monitoringfiles.CONFIG,
        "storage.tsdb.path": "/var/lib/prometheus",
        "storage.tsdb.retention.time": _RETENTION,
        # A new pod is scraped this soon, at best, after it is known; the default is five times as long.
        "scrape.discovery-reload-interval": "1s",
        "web.listen-address": f"{state.address}:{monitoringfiles.PROMETHEUS_PORT}",
    }
    alertmanager_flags = {
        # Alone: no other Alertmanager is looked for.
        "cluster.listen-address": "",
        "config.file": monitoringfiles.ALERTMANAGER_CONFIG,
        "storage.path": "/var/lib/alertmanager",
        "web.listen-address": f"{state.address}:{monitoringfiles.ALERTMANAGER_PORT}",
    }
    object_metrics_flags = {
        "kubeconfig": f"{KUBERNETES}/{monitoringfiles.OBJECT_METRICS_USER}.conf",
        "listen": f"{state.address}:{monitoringfiles.OBJECT_METRICS_PORT}",
    }
    pod_targets_flags = {
        "file": monitoringfiles.TARGETS,
        "kubeconfig": f"{KUBERNETES}/{monitoringfiles.PROMETHEUS_USER}.conf",
        "namespaces": ",".join(sorted(namespaces)),
    }
    return [
        Component("pod-targets", [f"{PROGRAMS}/pod-targets", *_flags(pod_targets_flags)]),
        Component("object-metrics", [f"{PROGRAMS}/object-metrics", *_flags(object_metrics_flags)]),
        Component("alertmanager", [alertmanager_program(), *_flags(alertmanager_flags)]),
        Component("prometheus", ["prometheus", *_flags(prometheus_flags)]),
        *views.components(view, state.address, _RETENTION, alertmanager_program()),
    ]


def alertmanager_program() -> str:
    """What Alertmanager's program is called here: Debian has a longer name for it."""
    return next((name for name in _ALERTMANAGERS if tools.find(name)), _ALERTMANAGERS[0])


def _flags(flags: dict[str, str]) -> list[str]:
    return [f"--{name}={flags[name]}" for name in sorted(flags)]


def _health(state: ClusterState, view: View) -> dict[str, str]:
    found = urls(state)
    return {
        "Alertmanager": f"{found.alertmanager}/-/ready",
        "Prometheus": f"{found.prometheus}/-/ready",
        "object-metrics": f"http://{state.address}:{monitoringfiles.OBJECT_METRICS_PORT}/healthz",
        **{name: f"{url}/-/ready" for name, url in views.urls(view, state.address).items()},
    }
