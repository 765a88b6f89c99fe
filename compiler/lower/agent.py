"""The agent's work, and the reference solution that can take its place."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.compiler.plan import AgentWork, ExpectAlert, ObserveCluster, Repair
from itbc.dsl.model import Scenario


def grant_work(scenario: Scenario, alerts: Sequence[ExpectAlert], telemetry: Sequence[ObserveCluster]) -> AgentWork:
    """The agent's goal, time and rights; it sees the signals that the scenario collects."""
    return AgentWork(
        id="work",
        needs=tuple(alert.id for alert in alerts),
        goal=scenario.desired.goal,
        within_seconds=scenario.desired.within_seconds,
        grants=scenario.grants,
        signals=tuple(sorted({signal for step in telemetry for signal in step.signals})),
        span=scenario.desired.span,
    )


def plan_repairs(scenario: Scenario, alerts: Sequence[ExpectAlert]) -> tuple[Repair, ...]:
    """One step a command of the solution, each after the one before it."""
    steps: list[Repair] = []
    needs = tuple(alert.id for alert in alerts)
    for part in scenario.solution:
        step = Repair(f"repair/{part.name}", needs, part.cluster, part.command, part.span)
        steps.append(step)
        needs = (step.id,)
    return tuple(steps)
