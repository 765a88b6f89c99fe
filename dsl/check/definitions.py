"""Alerting rules and SLOs."""

from __future__ import annotations

from itbc.dsl.entries import Entry
from itbc.dsl.model import AlertRule, Comparison, Slo

_COMPARISONS: dict[str, Comparison] = {"below": "<", "at_most": "<=", "above": ">", "at_least": ">="}


def alert_rule(entry: Entry) -> AlertRule | None:
    """The rule, or None where a part of it couldn't be understood (which has been reported)."""
    expression, severity, summary = entry.value("expression"), entry.value("severity"), entry.value("summary")
    if expression is None or severity is None or summary is None:
        return None
    labels = {name.text: value.data for name, value in entry.pairs("labels")}
    return AlertRule(
        entry.label,
        expression.data,
        float(entry.get("pending", 0.0)),
        severity.data,
        labels,
        summary.data,
        entry.header,
    )


def slo(entry: Entry) -> Slo | None:
    """The SLO, or None where a part of it couldn't be understood (which has been reported)."""
    query = entry.value("query")
    bound = next((name for name in _COMPARISONS if entry.value(name) is not None), None)
    if query is None or bound is None:
        return None
    return Slo(entry.label, query.data, _COMPARISONS[bound], float(entry.get(bound)), entry.header)
