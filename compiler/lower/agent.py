"""The agent's work, and what can take its place: the reference solution and its mutants."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.compiler.plan import AgentWork, ExpectAlert, Node, Repair, WrongRepair
from itbc.dsl.model import Scenario, SolutionStep


def grant_work(scenario: Scenario, alerts: Sequence[ExpectAlert]) -> AgentWork:
    """The agent's goal, time and rights, and what calls what."""
    return AgentWork(
        id="work",
        needs=tuple(alert.id for alert in alerts),
        goal=scenario.desired.goal,
        within_seconds=scenario.desired.within_seconds,
        grants=scenario.grants,
        topology=tuple(
            Node(cluster.name, component)
            for cluster in scenario.environment.clusters
            for application in cluster.applications
            for component in application.components
        ),
        span=scenario.desired.span,
    )


def plan_repairs(scenario: Scenario, alerts: Sequence[ExpectAlert]) -> tuple[Repair, ...]:
    """One step a command of the solution, each after the one before it."""
    return _repairs("repair", scenario.solution, alerts)


def plan_mutants(scenario: Scenario, alerts: Sequence[ExpectAlert]) -> tuple[WrongRepair, ...]:
    """The repairs that must fail, each as if it were the only one."""
    return tuple(
        WrongRepair(each.name, each.why, _repairs(f"mutant/{each.name}", each.steps, alerts), each.span)
        for each in scenario.mutants
    )


def _repairs(prefix: str, parts: Sequence[SolutionStep], alerts: Sequence[ExpectAlert]) -> tuple[Repair, ...]:
    steps: list[Repair] = []
    needs = tuple(alert.id for alert in alerts)
    for part in parts:
        step = Repair(f"{prefix}/{part.name}", needs, part.cluster, part.command, part.span)
        steps.append(step)
        needs = (step.id,)
    return tuple(steps)
