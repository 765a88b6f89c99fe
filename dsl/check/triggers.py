"""T: the alerts that must fire."""

from __future__ import annotations

from itbc.dsl import codes
from itbc.dsl.check.context import ClusterFacts, Shared, World
from itbc.dsl.check.definitions import alert_rule
from itbc.dsl.check.environment import cluster_of
from itbc.dsl.diagnostics import nearest, replace
from itbc.dsl.entries import Entry
from itbc.dsl.model import AlertRule, ExpectedAlert
from itbc.dsl.values import show_duration


def triggers(scenario: Entry, world: World, shared: Shared) -> list[ExpectedAlert]:
    """The alerts that a scenario expects."""
    trigger = scenario.child("trigger")
    if trigger is None:
        return []
    made: list[ExpectedAlert] = []
    for entry in trigger.children("alert"):
        found = _alert(entry, world, shared)
        if found is not None:
            made.append(found)
    return made


def _alert(entry: Entry, world: World, shared: Shared) -> ExpectedAlert | None:
    if not entry.labels or not entry.labels[0].valid:
        return None
    cluster = cluster_of(entry, world, shared.sink)
    declared = shared.names.of("alert").get(entry.label)
    if declared is None:
        _undeclared(entry, shared)
        return None
    if cluster is None or not _raised(entry, cluster, shared):
        return None
    rule, within = alert_rule(declared.entry), entry.value("within")
    if rule is None or within is None:
        return None
    _contradictions(entry, rule, shared)
    if within.data < rule.pending_seconds:
        shared.sink.report(
            codes.OUT_OF_RANGE,
            within.span,
            f"the rule alone waits {show_duration(rule.pending_seconds)} before it fires",
            secondary=((declared.entry.header, "this rule"),),
            help="allow more time",
        )
        return None
    labels = {name.text: value.data for name, value in entry.pairs("labels")}
    return ExpectedAlert(rule, cluster.cluster.name, labels, within.data, entry.header)


def _undeclared(entry: Entry, shared: Shared) -> None:
    if shared.names.damaged:
        return
    near = nearest(entry.label, list(shared.names.of("alert")))
    shared.sink.report(
        codes.ALERT_NOT_RAISED,
        entry.label_span,
        f"there is no alert `{entry.label}`",
        help=f"did you mean `{near}`?" if near else "declare the alert, or import a file that does",
        fix=replace(entry.label_span, f'"{near}"') if near else None,
    )


def _raised(entry: Entry, cluster: ClusterFacts, shared: Shared) -> bool:
    """Whether the cluster computes the alert; reports where it doesn't."""
    telemetry = cluster.entry.child("telemetry")
    if entry.label not in cluster.loaded_alerts:
        listed = telemetry.value("alerts") if telemetry is not None else None
        shared.sink.report(
            codes.ALERT_NOT_RAISED,
            entry.label_span,
            f"cluster `{cluster.cluster.name}` doesn't load this rule",
            secondary=((listed.span if listed is not None else cluster.entry.header, "it loads these"),),
            help=f"add `alert.{entry.label}` there",
        )
        return False
    if not cluster.metrics:
        shared.sink.report(
            codes.METRICS_OFF,
            entry.label_span,
            "alerts are computed from metrics",
            secondary=((cluster.cluster.telemetry.span, "metrics are off here"),),
            help="set `metrics = true`",
        )
    return cluster.metrics


def _contradictions(entry: Entry, rule: AlertRule, shared: Shared) -> None:
    fixed = {"severity": rule.severity, "alertname": rule.name, **rule.labels}
    for name, value in entry.pairs("labels"):
        if name.text in fixed and fixed[name.text] != value.data and "{{" not in fixed[name.text]:
            shared.sink.report(
                codes.LABEL_CONTRADICTION,
                value.span,
                f"the rule always has `{name.text}` = `{fixed[name.text]}`",
                secondary=((rule.span, "this rule"),),
                help=f'write `"{fixed[name.text]}"`, or leave the label out',
                fix=replace(value.span, f'"{fixed[name.text]}"'),
            )
