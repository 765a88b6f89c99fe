from __future__ import annotations

import re

import pytest

from itbc.contracts.mask import Mask
from itbc.providers.embedded import monitoringfiles
from itbc.providers.embedded.telemetry import logs, traces, view

PAYMENT = Mask("traces", "payment")


def test_without_a_mask_nothing_is_between_the_receiver_and_the_store() -> None:
    made = traces.configuration("10.0.0.2", [])
    assert made["service"]["pipelines"]["traces"]["processors"] == ["batch"]
    assert "filter" not in made["processors"]


def test_masked_spans_are_dropped_before_they_are_batched() -> None:
    made = traces.configuration("10.0.0.2", [PAYMENT, Mask("traces", "cart")])
    assert made["service"]["pipelines"]["traces"]["processors"] == ["filter", "batch"]
    assert made["processors"]["filter"]["traces"]["span"] == [
        'resource.attributes["service.name"] == "cart"',
        'resource.attributes["service.name"] == "payment"',
    ]
    assert traces.configuration("10.0.0.2", [Mask("traces")])["processors"]["filter"]["traces"]["span"] == ["true"]


def test_only_the_node_s_own_address_takes_spans() -> None:
    protocols = traces.configuration("10.0.0.2", [])["receivers"]["otlp"]["protocols"]
    assert {each["endpoint"] for each in protocols.values()} == {"10.0.0.2:4317", "10.0.0.2:4318"}


def test_the_agent_of_logs_leaves_masked_containers_unread() -> None:
    assert logs.exclusion([]) == ""
    assert logs.exclusion([Mask("logs")]) == "*"
    label = '"kubernetes.pod_labels.app.kubernetes.io/name"'
    assert logs.exclusion([Mask("logs", "b"), Mask("logs", "a")]) == f'{label}:="a" or {label}:="b"'


def test_without_masks_of_metrics_or_alerts_there_is_no_second_prometheus() -> None:
    assert view.view_of([Mask("traces"), Mask("logs", "a"), Mask("events")]).names == ()


@pytest.mark.parametrize(
    ("masks", "names"),
    [
        ([Mask("metrics")], (view.PROMETHEUS,)),
        ([Mask("metrics", "a")], (view.PROMETHEUS,)),
        ([Mask("alerts")], (view.PROMETHEUS, view.ALERTMANAGER)),
    ],
)
def test_alerts_are_hidden_in_metrics_too(masks: list[Mask], names: tuple[str, ...]) -> None:
    found = view.view_of(masks)
    assert found.names == names
    made = view.configuration(found, "10.0.0.2", "shop-1")
    # No rules, no series ALERTS; and nobody is told of any.
    assert "rule_files" not in made
    assert "alerting" not in made


def test_masked_metrics_are_dropped_whatever_they_were_scraped_from() -> None:
    whole = monitoringfiles.prometheus("10.0.0.2", "shop-1")["scrape_configs"]
    made = view.configuration(view.view_of([Mask("metrics", "payment")]), "10.0.0.2", "shop-1")["scrape_configs"]
    assert [each["job_name"] for each in made] == [each["job_name"] for each in whole]
    for job, before in zip(made, whole, strict=True):
        rules = job["metric_relabel_configs"]
        assert rules[: len(before.get("metric_relabel_configs", []))] == before.get("metric_relabel_configs", [])
        labels = {rule["source_labels"][0] for rule in rules if rule["action"] == "drop"}
        assert labels >= {"service", "pod", "deployment", "container", "replicaset"}
    assert view.configuration(view.view_of([Mask("metrics")]), "10.0.0.2", "shop-1")["scrape_configs"] == []


@pytest.mark.parametrize(
    ("label", "value", "hidden"),
    [
        ("service", "payment", True),
        ("service", "payment-gateway", False),
        ("replicaset", "payment-7d4b9c6f5d", True),
        ("pod", "payment-7d4b9c6f5d-x2x9q", True),
        ("pod", "payment-0", True),
        ("pod", "checkout-7d4b9c6f5d-x2x9q", False),
        ("container", "payments", False),
    ],
)
def test_a_service_is_known_by_what_runs_it(label: str, value: str, *, hidden: bool) -> None:
    made = view.configuration(view.view_of([Mask("metrics", "payment")]), "10.0.0.2", "shop-1")["scrape_configs"]
    rules = [rule for rule in made[0]["metric_relabel_configs"] if rule["source_labels"] == [label]]
    # Prometheus anchors the expression.
    assert any(re.fullmatch(rule["regex"], value) for rule in rules) is hidden
