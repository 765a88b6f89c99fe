"""From a checked scenario and a target to a plan: one pass a file."""

from __future__ import annotations

from itbc.compiler.lower.agent import grant_work, plan_mutants, plan_repairs
from itbc.compiler.lower.alerts import expect_alerts
from itbc.compiler.lower.applications import deploy_applications
from itbc.compiler.lower.capability import check_capability
from itbc.compiler.lower.clusters import create_clusters
from itbc.compiler.lower.faults import break_things
from itbc.compiler.lower.health import await_healthy
from itbc.compiler.lower.judgement import plan_judgement
from itbc.compiler.lower.telemetry import observe_clusters
from itbc.compiler.plan import Plan
from itbc.compiler.target import Target
from itbc.dsl.diagnostics import Sink
from itbc.dsl.model import Scenario

__all__ = ["lower"]


def lower(scenario: Scenario, target: Target, sink: Sink) -> Plan | None:
    """The plan of a scenario on a target.

    What the target can't provide is reported with its place in the source, all
    of it, and there is no plan then.
    """
    errors = sink.errors
    check_capability(scenario, target, sink)
    clusters = create_clusters(scenario)
    telemetry = observe_clusters(scenario, clusters)
    applications = deploy_applications(scenario, clusters, sink)
    if sink.errors > errors:
        return None
    healthy = await_healthy(scenario, telemetry, applications)
    faults = break_things(scenario, healthy)
    alerts = expect_alerts(scenario, faults, healthy)
    work = grant_work(scenario, alerts)
    return Plan(
        scenario=scenario.name,
        metadata=scenario.metadata,
        target=target.name,
        clusters=clusters,
        telemetry=telemetry,
        applications=applications,
        healthy=healthy,
        faults=faults,
        alerts=alerts,
        work=work,
        repairs=plan_repairs(scenario, alerts),
        mutants=plan_mutants(scenario, alerts),
        judge=plan_judgement(scenario, work),
    )
