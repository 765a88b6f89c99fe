"""T: the alerts that must fire."""

from __future__ import annotations

from itbc.dsl import codes
from itbc.dsl.check.context import Shared, World
from itbc.dsl.check.definitions import alert_rule
from itbc.dsl.check.environment import cluster_of
from itbc.dsl.diagnostics import nearest, replace
from itbc.dsl.entries import Entry
from itbc.dsl.model import AlertRule, ExpectedAlert


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
    sink = shared.sink
    if not entry.labels or not entry.labels[0].valid:
        return None
    cluster = cluster_of(entry, world, sink)
    declared = shared.names.of("alert").get(entry.label)
    if declared is None:
        if not shared.names.damaged:
            near = nearest(entry.label, list(shared.names.of("alert")))
            sink.report(
                codes.ALERT_NOT_RAISED,
                entry.label_span,
                f"there is no alert `{entry.label}`",
                help=f"did you mean `{near}`?" if near else "declare the alert, or import a file that does",
                fix=replace(entry.label_span, f'"{near}"') if near else None,
            )
        return None
    if cluster is None:
        return None
    if entry.label not in cluster.loaded_alerts:
        telemetry = cluster.entry.child("telemetry")
        place = (
            telemetry.values["alerts"].span
            if telemetry is not None and "alerts" in telemetry.values
            else cluster.entry.header
        )
        sink.report(
            codes.ALERT_NOT_RAISED,
            entry.label_span,
            f"cluster `{cluster.cluster.name}` doesn't load this rule",
            secondary=((place, "it loads these"),),
            help=f"add `alert.{entry.label}` there",
        )
        return None
    if not cluster.metrics:
        sink.report(
            codes.METRICS_OFF,
            entry.label_span,
            "alerts are computed from metrics",
            secondary=((cluster.cluster.telemetry.span, "metrics are off here"),),
            help="set `metrics = true`",
        )
        return None
    rule = alert_rule(declared.entry)
    within = entry.value("within")
    if rule is None or within is None:
        return None
    labels = {name.text: value.data for name, value in entry.pairs("labels")}
    _contradictions(entry, rule, shared)
    if within.data < rule.pending_seconds:
        sink.report(
            codes.OUT_OF_RANGE,
            within.span,
            f"the rule alone waits {rule.pending_seconds:g} s before it fires",
            secondary=((declared.entry.header, "this rule"),),
            help="allow more time",
        )
        return None
    return ExpectedAlert(rule, cluster.cluster.name, labels, within.data, entry.header)


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
