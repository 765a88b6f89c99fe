"""Alerting rules and PromQL as they are written out."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from itbc.compiler.emit.rules import render_rules
from itbc.compiler.plan import Plan
from itbc.compiler.promql import duration, matchers, quoted


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (5, "5s"), (90, "1m30s"), (3600, "1h"), (3661.5, "1h1m1s500ms"), (0.25, "250ms"), (86400, "24h")],
)
def test_durations(seconds: float, text: str):
    assert duration(seconds) == text


def test_matchers_are_sorted_and_quoted():
    assert matchers({"b": "1", "a": 'x"y\\z\n'}, {"c": "p|q"}) == '{a="x\\"y\\\\z\\n",b="1",c=~"p|q"}'
    assert matchers({}) == "{}"
    assert quoted("") == '""'


def test_rules_come_by_name_in_one_group_named_after_the_cluster(plan: Plan):
    (step,) = plan.telemetry
    backwards = replace(step, rules=tuple(reversed(step.rules)))
    assert render_rules(backwards) == render_rules(step)
    (group,) = yaml.safe_load(render_rules(step))["groups"]
    assert group["name"] == "shop"
    assert [rule["alert"] for rule in group["rules"]] == ["CheckoutDown", "HighRequestErrorRate"]


def test_a_rule_without_pending_time_fires_at_once(plan: Plan):
    (step,) = plan.telemetry
    (rule,) = yaml.safe_load(render_rules(replace(step, rules=(replace(step.rules[0], pending_seconds=0.0),))))[
        "groups"
    ][0]["rules"]
    assert "for" not in rule


def test_no_rules_make_an_empty_file_that_prometheus_takes(plan: Plan):
    (step,) = plan.telemetry
    assert yaml.safe_load(render_rules(replace(step, rules=()))) == {"groups": []}
