"""Alerting rules as a Prometheus rules file."""

from __future__ import annotations

from typing import Any

import yaml

from itbc.compiler.plan import ObserveCluster
from itbc.compiler.promql import duration
from itbc.dsl.model import AlertRule


def rules_path(cluster: str) -> str:
    """The rules file's path below `files/`."""
    return f"rules-{cluster}.yml"


def render_rules(step: ObserveCluster) -> bytes:
    """One group, named after the cluster, with the rules by name."""
    rules = [_rule(rule) for rule in sorted(step.rules, key=lambda rule: rule.name)]
    document: dict[str, Any] = {"groups": [{"name": step.cluster, "rules": rules}] if rules else []}
    return yaml.safe_dump(document, sort_keys=True, allow_unicode=True, width=1000).encode()


def _rule(rule: AlertRule) -> dict[str, Any]:
    rendered: dict[str, Any] = {
        "alert": rule.name,
        "expr": rule.expression,
        "labels": {**rule.labels, "severity": rule.severity},
    }
    if rule.pending_seconds:
        rendered["for"] = duration(rule.pending_seconds)
    if rule.summary:
        rendered["annotations"] = {"summary": rule.summary}
    return rendered
