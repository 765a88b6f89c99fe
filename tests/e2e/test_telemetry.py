"""What an agent can look at, asked for as an agent would, with nothing masked and with masks."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from program import Itbc, at_home

pytestmark = pytest.mark.e2e

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sre" / "checkout-wrong-payment-address"
SERVICES = {"cart", "catalogue", "checkout", "frontend", "orders", "payment", "store"}
OURS = "made-by-the-test"


@dataclass(frozen=True)
class Shown:
    """A standing environment: the URLs that an agent is shown, those of the harness, an administrator's kubeconfig."""

    signals: dict[str, str]
    prometheus: str
    alertmanager: str
    kubeconfig: str
    node: str

    def services_in_traces(self) -> set[str]:
        return set(httpx.get(f"{self.signals['traces']}/api/services", trust_env=False).json()["data"] or [])

    def spans_of(self, service: str) -> list[Any]:
        asked = {"service": service, "limit": 5, "lookback": "1h"}
        answer = httpx.get(f"{self.signals['traces']}/api/traces", params=asked, trust_env=False)
        return list(answer.json()["data"] or [])

    def containers_in_logs(self) -> set[str]:
        asked = '_time:1h | uniq by ("kubernetes.container_name")'
        answer = httpx.post(f"{self.signals['logs']}/select/logsql/query", data={"query": asked}, trust_env=False)
        assert answer.is_success, answer.text
        found = [json.loads(line) for line in answer.text.splitlines()]
        return {each.get("kubernetes.container_name", "") for each in found}

    def metrics(self, query: str, url: str = "") -> list[Any]:
        base = url or self.signals["metrics"]
        answer = httpx.get(f"{base}/api/v1/query", params={"query": query}, trust_env=False)
        assert answer.is_success, answer.text
        return list(answer.json()["data"]["result"])

    def services_in_metrics(self) -> set[str]:
        return {each["metric"]["service"] for each in self.metrics("count by (service) (http_requests_total)")}

    def alerts(self, url: str = "") -> set[str]:
        answer = httpx.get(f"{url or self.signals['alerts']}/api/v2/alerts", trust_env=False)
        return {each["labels"]["alertname"] for each in answer.json()}

    def may(self, verb: str, resource: str) -> bool:
        """Whether the agent's identity may do that in the shop's namespace."""
        resource, _, part = resource.partition("/")
        done = subprocess.run(
            [
                str(Path(sys.executable).parent / "kubectl"),
                f"--kubeconfig={self.kubeconfig}",
                *("auth", "can-i", verb, resource, f"--subresource={part}", "--namespace=shop"),
                "--as=system:serviceaccount:default:on-call",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.strip() in ("yes", "no"), done.stderr
        return done.stdout.strip() == "yes"

    def send_span(self) -> None:
        """Report a span as a service of our own would."""
        now = time.time_ns()
        span = {
            "traceId": "0123456789abcdef0123456789abcdef",
            "spanId": "0123456789abcdef",
            "name": "test",
            "kind": 1,
            "startTimeUnixNano": str(now),
            "endTimeUnixNano": str(now + 1000),
        }
        resource = {"attributes": [{"key": "service.name", "value": {"stringValue": OURS}}]}
        body = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}
        answer = httpx.post(f"http://{self.node}:4318/v1/traces", json=body, trust_env=False)
        assert answer.is_success, answer.text

    def raise_alert(self) -> None:
        """Tell the cluster's Alertmanager of an alert."""
        alert = {"labels": {"alertname": OURS, "service": "frontend"}}
        answer = httpx.post(f"{self.alertmanager}/api/v2/alerts", json=[alert], trust_env=False)
        assert answer.is_success, answer.text


def _apply(program: Itbc, *options: str) -> Shown:
    code, said = program.call("apply", str(SCENARIO), *options)
    assert code == 0, said
    (step,) = program.run.glob("steps/*-provision.json")
    outputs = json.loads(step.read_text())["output"]["outputs"]
    telemetry = outputs["telemetry-shop"]
    return Shown(
        signals={signal: telemetry[signal] for signal in ("alerts", "logs", "metrics", "traces")},
        prometheus=telemetry["prometheus"],
        alertmanager=telemetry["alertmanager"],
        kubeconfig=outputs["cluster-shop"]["kubeconfig"],
        node=outputs["cluster-shop"]["address"],
    )


def _eventually(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


@pytest.fixture(scope="module")
def one_service_masked() -> Generator[Shown]:
    with at_home() as program:
        hidden = [part for kind in ("logs", "metrics", "traces") for part in ("--mask", f"{kind}:payment")]
        yield _apply(program, *hidden)
        assert program.call("destroy", program.run.name)[0] == 0


@pytest.fixture(scope="module")
def all_masked() -> Generator[Shown]:
    with at_home() as program:
        kinds = ("alerts", "events", "logs", "metrics", "traces")
        yield _apply(program, *(part for kind in kinds for part in ("--mask", kind)))
        assert program.call("destroy", program.run.name)[0] == 0


def test_the_others_are_seen_and_the_masked_service_is_in_no_store(one_service_masked: Shown) -> None:
    shown = one_service_masked
    others = SERVICES - {"payment"}
    _eventually(lambda: shown.services_in_traces() >= others, "not all services have traces")
    _eventually(lambda: shown.containers_in_logs() >= {*others, "load", "coredns"}, "not all containers have logs")
    _eventually(lambda: shown.services_in_metrics() >= others, "not all services have metrics")
    assert shown.spans_of("checkout")
    # Purchases go by way of payment: by now it has served many of them, and the cluster's own Prometheus knows.
    served = 'http_requests_total{service="payment", code="200"} > 0'
    _eventually(lambda: bool(shown.metrics(served, shown.prometheus)), "nothing was paid")
    assert "payment" not in shown.services_in_traces()
    assert shown.spans_of("payment") == []
    assert "payment" not in shown.containers_in_logs()
    assert shown.metrics('{service="payment"}') == []
    assert shown.metrics('{pod=~"payment-.*"}') == []
    assert shown.metrics('{pod=~"checkout-.*"}')


def test_alerts_and_what_else_isnt_masked_is_as_it_is(one_service_masked: Shown) -> None:
    shown = one_service_masked
    shown.raise_alert()
    assert OURS in shown.alerts()
    shown.send_span()
    _eventually(lambda: OURS in shown.services_in_traces(), "a span that was sent isn't found")
    assert shown.may("list", "events")
    assert shown.may("list", "pods")
    # One service's logs are hidden in the store; by the API server nobody's can be read then.
    assert not shown.may("get", "pods/log")


def test_who_may_ask_the_store_of_logs_cant_write_to_it(one_service_masked: Shown) -> None:
    url = f"{one_service_masked.signals['logs']}/insert/jsonline"
    assert httpx.post(url, content=b'{"_msg": "forged"}\n', trust_env=False).is_error


def test_where_a_kind_is_masked_a_query_finds_nothing(all_masked: Shown) -> None:
    shown = all_masked
    # All of it happens: the cluster's own Prometheus counts requests, an alert is raised, a span is taken.
    paid = 'sum(http_requests_total{service="payment"}) > 3'
    _eventually(lambda: bool(shown.metrics(paid, shown.prometheus)), "nothing was paid")
    shown.raise_alert()
    shown.send_span()
    assert OURS in shown.alerts(shown.alertmanager)
    assert shown.metrics("up") == []
    assert shown.metrics('{__name__=~".+"}') == []
    assert shown.alerts() == set()
    assert shown.services_in_traces() == set()
    assert shown.spans_of(OURS) == []
    assert shown.containers_in_logs() == set()
    assert not shown.may("list", "events")
    assert not shown.may("get", "pods/log")
    assert shown.may("list", "pods")
