"""The alerts that must fire before the agent starts."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.compiler.plan import AwaitHealthy, Break, ExpectAlert
from itbc.dsl.model import Scenario


def expect_alerts(scenario: Scenario, faults: Sequence[Break], healthy: AwaitHealthy) -> tuple[ExpectAlert, ...]:
    """One step an expected alert, after all faults."""
    needs = tuple(fault.id for fault in faults) or (healthy.id,)
    return tuple(
        ExpectAlert(
            id=f"alert/{expected.rule.name}",
            needs=needs,
            alert=expected.rule.name,
            cluster=expected.cluster,
            labels=dict(sorted(expected.labels.items())),
            within_seconds=expected.within_seconds,
            span=expected.span,
        )
        for expected in scenario.triggers
    )
