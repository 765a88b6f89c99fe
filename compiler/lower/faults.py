"""What is broken, one fault after the other."""

from __future__ import annotations

from itbc.compiler.plan import AwaitHealthy, Break
from itbc.dsl.model import Scenario


def break_things(scenario: Scenario, healthy: AwaitHealthy) -> tuple[Break, ...]:
    """One step a fault, each after the one before it, so that a saved copy never depends on chance."""
    steps: list[Break] = []
    before = healthy.id
    for fault in scenario.faults:
        step = Break(
            id=f"fault/{fault.name}",
            needs=(before,),
            fault=fault.name,
            kind=fault.kind.kind,
            cluster=fault.request.cluster,
            namespace=fault.request.namespace,
            changes=tuple(fault.kind.changes(fault.request)),
            effect=fault.kind.effect(fault.request),
            span=fault.span,
        )
        steps.append(step)
        before = step.id
    return tuple(steps)
