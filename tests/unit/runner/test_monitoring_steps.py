"""Baseline and alerting against a real Prometheus and a real Alertmanager."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from itbc.contracts.environment import Baseline, Environment, ExpectedAlert, Task
from itbc.contracts.shape import Origin
from itbc.runner.failures import Interrupted, StepFailed
from itbc.runner.steps import baseline as baseline_step
from itbc.runner.steps.access import Access
from itbc.runner.steps.alerting import AlertingInput, alerting
from itbc.runner.steps.baseline import BaselineInput, baseline
from itbc.runner.surroundings import Surroundings
from itbc.runner.waiting import Patience

ORIGIN = Origin(file="scenario.itb", line=4, column=3)

CONFIGURATION = """
global: {{scrape_interval: 200ms, evaluation_interval: 200ms}}
rule_files: [{rules}]
scrape_configs: [{{job_name: self, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{alertmanager}"]}}]}}]}}
"""
RULES = """
groups:
- name: all
  interval: 200ms
  rules:
  - {alert: Down, expr: 'up{job="self"} == 1', for: 400ms, labels: {severity: critical}}
  - {alert: Never, expr: 'up == 7'}
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Generator[Access]:
    folder = tmp_path_factory.mktemp("monitoring")
    port, alertmanager = free_port(), free_port()
    (folder / "rules.yml").write_text(RULES)
    (folder / "prometheus.yml").write_text(
        CONFIGURATION.format(rules=folder / "rules.yml", port=port, alertmanager=alertmanager)
    )
    (folder / "alertmanager.yml").write_text("route: {receiver: none}\nreceivers: [{name: none}]\n")
    prometheus = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    prometheus += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    alerts = ["prometheus-alertmanager", f"--config.file={folder}/alertmanager.yml", "--cluster.listen-address="]
    alerts += [f"--web.listen-address=127.0.0.1:{alertmanager}", f"--storage.path={folder}/am", "--log.level=error"]
    with ExitStack() as stack:
        for command in (prometheus, alerts):
            process = stack.enter_context(subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL))
            stack.callback(process.terminate)
        for each in (port, alertmanager):
            Patience().until(lambda: _ready(each), 20)  # noqa: B023 - asked at once
        yield Access(
            cluster="c",
            kubeconfig="",
            prometheus=f"http://127.0.0.1:{port}",
            alertmanager=f"http://127.0.0.1:{alertmanager}/",
            namespaces=[],
        )


def _ready(port: int) -> bool | None:
    try:
        return True if httpx.get(f"http://127.0.0.1:{port}/-/ready", trust_env=False).status_code == 200 else None
    except httpx.HTTPError:
        return None


def around(baselines: list[Baseline], alerts: list[ExpectedAlert]) -> Surroundings:
    """As much of the surroundings as these steps look at."""
    environment = Environment(
        scenario="s",
        target="embedded",
        stacks=[],
        clusters=[],
        baseline=baselines,
        faults=[],
        alerts=alerts,
        task=Task(goal="", within_seconds=1, grants=[]),
        solution=[],
    )
    seen = SimpleNamespace(
        environment=environment, patience=Patience(), now=lambda: datetime.now(UTC), tell=lambda _text: None
    )
    return cast("Surroundings", seen)


def condition(query: str, seconds: float = 10.0) -> Baseline:
    return Baseline(name="it works", cluster="c", query=query, within_seconds=seconds, origin=ORIGIN)


def expected(name: str, labels: dict[str, str], seconds: float) -> ExpectedAlert:
    return ExpectedAlert(name=name, cluster="c", labels=labels, within_seconds=seconds, origin=ORIGIN)


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


def test_an_alert_is_seen_with_its_labels_and_its_time(access: Access) -> None:
    alert = expected("Down", {"severity": "critical"}, 20.0)
    seen = alerting(AlertingInput(accesses=[access], injected=ago(0)), around([], [alert])).alerts
    assert [each.name for each in seen] == ["Down"]
    assert seen[0].labels["job"] == "self"
    assert 0.0 <= seen[0].after_seconds < 20.0


@pytest.mark.parametrize(
    ("name", "labels", "said"),
    [
        ("Never", {}, "no such alert"),
        ("Down", {"severity": "info"}, "firing as Down{"),
        ("Nothing", {}, "no such alert"),
    ],
)
def test_an_alert_that_doesnt_fire_is_told_with_its_place(
    access: Access, name: str, labels: dict[str, str], said: str
) -> None:
    alerting(AlertingInput(accesses=[access], injected=ago(0)), around([], [expected("Down", {}, 20.0)]))
    with pytest.raises(StepFailed, match=f"{name} didn't fire within 1 s") as caught:
        alerting(AlertingInput(accesses=[access], injected=ago(0.5)), around([], [expected(name, labels, 1.0)]))
    assert caught.value.fault == "alert"
    assert caught.value.origin == ORIGIN
    assert said in caught.value.message


@pytest.mark.parametrize("query", ["up * 0", "vector(0) or up", "nobody_has_this", "this is no query"])
def test_an_unhealthy_environment_is_told_with_its_place(access: Access, query: str) -> None:
    with pytest.raises(StepFailed, match="it works didn't become true within 1 s") as caught:
        baseline(BaselineInput(accesses=[access]), around([condition(query, 1.0)], []))
    assert caught.value.fault == "environment"
    assert caught.value.origin == ORIGIN


def test_alerts_before_anything_is_broken_are_refused(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline_step, "QUIET_SECONDS", 1.0)
    alerting(AlertingInput(accesses=[access], injected=ago(0)), around([], [expected("Down", {}, 20.0)]))
    with pytest.raises(StepFailed, match="alerts are on before anything was broken: Down"):
        baseline(BaselineInput(accesses=[access]), around([condition("up")], []))


def test_a_dead_monitoring_is_told(access: Access) -> None:
    dead = Access(
        cluster="c",
        kubeconfig="",
        prometheus=f"http://127.0.0.1:{free_port()}",
        alertmanager=access.alertmanager,
        namespaces=[],
    )
    with pytest.raises(StepFailed, match="refused"):
        baseline(BaselineInput(accesses=[dead]), around([condition("up", 0.5)], []))


def test_a_wish_to_stop_ends_the_waiting(access: Access) -> None:
    stopped = around([], [expected("Never", {}, 60.0)])
    stopped.patience.stop.set()
    begin = time.monotonic()
    with pytest.raises(Interrupted):
        alerting(AlertingInput(accesses=[access], injected=ago(0)), stopped)
    assert time.monotonic() - begin < 5
