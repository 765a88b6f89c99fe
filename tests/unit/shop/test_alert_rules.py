"""The alerts and SLOs against Prometheus itself: `promtool test rules` with series as the shop makes them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from itbc.compiler.emit.rules import render_rules
from itbc.compiler.plan import ObserveCluster
from itbc.dsl.checking import check
from itbc.dsl.diagnostics import Sink
from itbc.dsl.model import Scenario
from itbc.providers.faults import catalogue

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"


Series = Mapping[str, str]

POD = "job='pods', namespace='shop'"
STATE = "job='kube-state-metrics', namespace='shop'"


def requests(service: str, code: str, path: str = "/checkout") -> str:
    labels = f"{POD}, service='{service}', pod='{service}-0', method='POST', path='{path}', code='{code}'"
    return f"http_requests_total{{{labels}}}"


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    path = SCENARIOS / "sre" / "checkout-wrong-payment-address" / "scenario.itb"
    found = check(path, catalogue(), Sink())
    assert found is not None
    return found


class Rules:
    """The scenario's rules, to be tried on series of one sample a second."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self.folder = folder
        self.scenario = scenario
        cluster = scenario.environment.clusters[0]
        step = ObserveCluster("telemetry", (), cluster.name, ("metrics",), (), ("shop",), cluster.alerts, cluster.span)
        (folder / "rules.yml").write_bytes(render_rules(step))

    def firing(self, series: Series, name: str, expected: Mapping[int, list[dict[str, str]]]) -> None:
        """Fails unless at each second exactly the alerts with these labels (besides severity) fire."""
        rule = next(rule for rule in self.scenario.environment.clusters[0].alerts if rule.name == name)
        checks: list[dict[str, Any]] = []
        for second, alerts in expected.items():
            wanted: list[dict[str, Any]] = []
            for labels in alerts:
                summary = rule.summary
                for label, value in labels.items():
                    summary = summary.replace("{{ $labels." + label + " }}", value)
                wanted.append(
                    {"exp_labels": {**labels, "severity": rule.severity}, "exp_annotations": {"summary": summary}}
                )
            checks.append({"eval_time": f"{second}s", "alertname": name, "exp_alerts": wanted})
        self._test(series, {"alert_rule_test": checks})

    def value(self, series: Series, slo: str, second: int, expected: float | None) -> None:
        """Fails unless the SLO's query has this value at this second; None for no value at all."""
        objective = next(each for each in self.scenario.desired.objectives if each.slo.name == slo)
        samples = [] if expected is None else [{"labels": "{}", "value": expected}]
        test = {"expr": objective.slo.query, "eval_time": f"{second}s", "exp_samples": samples}
        self._test(series, {"promql_expr_test": [test]})

    def _test(self, series: Series, checks: Mapping[str, Any]) -> None:
        document = {
            "rule_files": ["rules.yml"],
            "evaluation_interval": "1s",
            "tests": [
                {
                    "interval": "1s",
                    "input_series": [{"series": name, "values": values} for name, values in series.items()],
                    **checks,
                }
            ],
        }
        (self.folder / "test.yml").write_text(yaml.safe_dump(document, width=10_000))
        answer = subprocess.run(
            ["promtool", "test", "rules", "test.yml"],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.fixture
def rules(tmp_path: Path, scenario: Scenario) -> Rules:
    return Rules(tmp_path, scenario)


def test_prometheus_takes_the_rules(rules: Rules) -> None:
    answer = subprocess.run(
        ["promtool", "check", "rules", "rules.yml"], cwd=rules.folder, capture_output=True, text=True, check=False
    )
    assert "SUCCESS: 10 rules found" in answer.stdout, answer.stdout + answer.stderr


def test_errors_fire_for_each_service_that_fails(rules: Rules) -> None:
    series = {
        requests("frontend", "200", "/"): "0+8x60",
        requests("frontend", "200"): "0+2x20 40x40",
        requests("frontend", "502"): "_x20 0+2x40",
        requests("cart", "200"): "0+2x60",
    }
    frontend = {"namespace": "shop", "service": "frontend"}
    rules.firing(series, "HighRequestErrorRate", {20: [], 24: [], 40: [frontend], 59: [frontend]})


def test_few_errors_or_few_requests_fire_nothing(rules: Rules) -> None:
    rare = {requests("frontend", "200"): "0+50x60", requests("frontend", "502"): "0+2x60"}
    rules.firing(rare, "HighRequestErrorRate", {40: [], 60: []})
    lone = {requests("frontend", "502"): "0x10 1x10 2x40"}
    rules.firing(lone, "HighRequestErrorRate", {15: [], 30: [], 60: []})


def test_refusals_are_no_errors(rules: Rules) -> None:
    rules.firing({requests("frontend", "404"): "0+5x60"}, "HighRequestErrorRate", {40: [], 60: []})


def test_slow_requests_fire(rules: Rules) -> None:
    def metric(kind: str, bound: str = "") -> str:
        label = f", le='{bound}'" if bound else ""
        return f"http_request_duration_seconds_{kind}{{{POD}, service='checkout', path='/purchases'{label}}}"

    slow = {metric("bucket", "1"): "0+9x60", metric("bucket", "2.5"): "0+10x60", metric("bucket", "+Inf"): "0+10x60"}
    count = {metric("count"): "0+10x60"}
    rules.firing({**slow, **count}, "HighRequestLatency", {5: [], 40: [{"namespace": "shop", "service": "checkout"}]})
    quick = {**slow, metric("bucket", "1"): "0+10x60"}
    rules.firing({**quick, **count}, "HighRequestLatency", {40: [], 60: []})


def test_an_idle_start_is_not_missing_traffic(rules: Rules) -> None:
    rules.firing({requests("frontend", "200"): "_x30 0x60"}, "RequestsStopped", {20: [], 60: [], 90: []})


@pytest.mark.parametrize("after", ["120x60", "stale _x59"])
def test_traffic_that_ends_fires_whether_the_service_is_still_there_or_not(rules: Rules, after: str) -> None:
    series = {requests("cart", "200"): f"0+2x60 {after}", requests("frontend", "200"): "0+2x120"}
    rules.firing(series, "RequestsStopped", {60: [], 85: [], 100: [{"namespace": "shop", "service": "cart"}]})


def test_a_service_that_gets_twice_its_usual_requests_fires(rules: Rules) -> None:
    series = {
        requests("frontend", "200", "/"): "0+8x30 240+24x60",
        requests("frontend", "200"): "0+2x30 60+6x60",
        requests("store", "200"): "0+10x90",
    }
    frontend = {"namespace": "shop", "service": "frontend"}
    rules.firing(series, "HighRequestRate", {20: [], 60: [frontend], 89: [frontend]})
    rules.firing({requests("frontend", "200"): "0+10x90"}, "HighRequestRate", {89: []})


def test_a_pod_that_stays_unready_fires_and_one_that_starts_or_ended_does_not(rules: Rules) -> None:
    def pod(name: str, ready: str, phase: str) -> Series:
        return {
            f"kube_pod_status_ready{{{STATE}, pod='{name}', uid='1', condition='true'}}": ready,
            f"kube_pod_status_phase{{{STATE}, pod='{name}', uid='1', phase='{phase}'}}": "1x90",
        }

    series = {
        **pod("slow", "0x25 1x65", "Running"),
        **pod("bad", "0x90", "Running"),
        **pod("done", "0x90", "Succeeded"),
    }
    rules.firing(series, "PodNotReady", {25: [], 40: [{"namespace": "shop", "pod": "bad"}]})


def test_a_crash_loop_fires_also_while_the_container_tries_again(rules: Rules) -> None:
    labels = {"namespace": "shop", "pod": "cart-1", "container": "cart"}
    waiting = f"{STATE}, pod='cart-1', container='cart', reason='CrashLoopBackOff'"
    name = f"kube_pod_container_status_waiting_reason{{{waiting}}}"
    rules.firing({name: "_x10 1x10 stale _x60"}, "PodCrashLooping", {12: [], 20: [labels], 40: [labels], 70: []})


def test_a_deployment_without_enough_pods_fires_unless_it_is_rolling_out(rules: Rules) -> None:
    def deployment(name: str, updated: str) -> Series:
        return {
            f"kube_deployment_spec_replicas{{{STATE}, deployment='{name}'}}": "2x120",
            f"kube_deployment_status_replicas_available{{{STATE}, deployment='{name}'}}": "1x120",
            f"kube_deployment_status_replicas_updated{{{STATE}, deployment='{name}'}}": updated,
        }

    series = {**deployment("stuck", "2x120"), **deployment("rolling", "0x20 1x20 2x20 0x20 1x20 2x20")}
    found = {"namespace": "shop", "deployment": "stuck", "job": "kube-state-metrics"}
    rules.firing(series, "DeploymentReplicasMismatch", {20: [], 60: [found], 100: [found]})


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff"])
def test_an_image_that_can_not_be_pulled_fires(rules: Rules, reason: str) -> None:
    labels = {"namespace": "shop", "pod": "cart-1", "container": "cart"}
    waiting = f"{STATE}, pod='cart-1', container='cart', reason="
    series = {
        f"kube_pod_container_status_waiting_reason{{{waiting}'{reason}'}}": "_x10 1x10 stale _x60",
        f"kube_pod_container_status_waiting_reason{{{waiting}'ContainerCreating'}}": "1x10",
    }
    rules.firing(series, "ContainerImagePullFailing", {8: [], 15: [], 25: [labels], 70: []})


def test_a_kill_for_memory_fires_and_an_old_one_does_not(rules: Rules) -> None:
    def container(name: str, reason: str, restarts: str) -> Series:
        labels = f"{STATE}, pod='{name}-1', container='{name}', uid='1'"
        return {
            f"kube_pod_container_status_last_terminated_reason{{{labels}, reason='{reason}'}}": "_x10 1x200",
            f"kube_pod_container_status_restarts_total{{{labels}}}": restarts,
        }

    series = {
        **container("hungry", "OOMKilled", "0x10 1x190"),
        **container("survivor", "OOMKilled", "1x200"),
        **container("faulty", "Error", "0x10 1x190"),
    }
    found = {"namespace": "shop", "pod": "hungry-1", "container": "hungry"}
    rules.firing(series, "ContainerOutOfMemory", {5: [], 15: [found], 100: [found], 180: []})


def test_a_stateful_set_without_enough_pods_fires_unless_it_is_rolling_out(rules: Rules) -> None:
    def stateful_set(name: str, updated: str) -> Series:
        return {
            f"kube_statefulset_replicas{{{STATE}, statefulset='{name}'}}": "1x120",
            f"kube_statefulset_status_replicas_ready{{{STATE}, statefulset='{name}'}}": "0x120",
            f"kube_statefulset_status_replicas_updated{{{STATE}, statefulset='{name}'}}": updated,
        }

    series = {**stateful_set("stuck", "1x120"), **stateful_set("rolling", "0x20 1x20 0x20 1x20 0x20 1x20")}
    found = {"namespace": "shop", "statefulset": "stuck", "job": "kube-state-metrics"}
    rules.firing(series, "StatefulSetReplicasMismatch", {20: [], 60: [found], 100: [found]})


def test_the_error_slo_is_zero_without_errors_and_nothing_without_requests(rules: Rules) -> None:
    slo = "frontend_errors_below_1_percent"
    rules.value({requests("frontend", "200"): "0+10x60"}, slo, 60, 0)
    rules.value({requests("frontend", "200"): "0+9x60", requests("frontend", "502"): "0+1x60"}, slo, 60, 0.1)
    rules.value({requests("checkout", "200"): "0+10x60"}, slo, 60, None)


def test_the_purchase_slo_counts_successful_purchases_only(rules: Rules) -> None:
    slo = "purchases_above_1_in_2_seconds"
    series = {
        requests("frontend", "200"): "0+2x60",
        requests("frontend", "502"): "0+5x60",
        requests("frontend", "200", "/"): "0+5x60",
    }
    rules.value(series, slo, 60, 2)
