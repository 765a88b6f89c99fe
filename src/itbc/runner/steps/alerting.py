"""Step 5: see every expected alert firing, and how long it took."""

from __future__ import annotations

from datetime import datetime

from itbc.contracts.environment import ExpectedAlert
from itbc.contracts.evidence import SeenAlert
from itbc.contracts.shape import Shape
from itbc.runner.failures import StepFailed
from itbc.runner.outside.prometheus import Alert, Monitoring, MonitoringUnreachable, matches, selector
from itbc.runner.steps.access import Access, of_cluster
from itbc.runner.surroundings import Surroundings
from itbc.runner.waiting import TooLate


class AlertingInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters, and when the environment was broken (RFC 3339)."""

    accesses: list[Access]
    injected: str


class AlertingOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected alerts as they were seen."""

    alerts: list[SeenAlert]


def alerting(step: AlertingInput, around: Surroundings) -> AlertingOutput:
    """Wait until Alertmanager has every expected alert. Raises StepFailed for the first that doesn't come in time."""
    injected = datetime.fromisoformat(step.injected)
    seen: list[SeenAlert] = []
    for alert in around.environment.alerts:
        access = of_cluster(step.accesses, alert.cluster)
        with Monitoring(access.prometheus, access.alertmanager) as monitoring:
            seen.append(_see(alert, injected, monitoring, around))
    return AlertingOutput(alerts=seen)


def _see(expected: ExpectedAlert, injected: datetime, monitoring: Monitoring, around: Surroundings) -> SeenAlert:
    around.tell(f"waiting for {expected.name}")
    state = "no such alert"

    def probe() -> Alert | None:
        nonlocal state
        try:
            firing = [each for each in monitoring.delivered() if matches(each, expected.name, expected.labels)]
            on = [each for each in monitoring.alerts() if each.name == expected.name]
        except MonitoringUnreachable as wrong:
            state = str(wrong)
            return None
        state = ", ".join(f"{each.state} as {selector(each.name, each.labels)}" for each in on) or "no such alert"
        return firing[0] if firing else None

    left = expected.within_seconds - (around.now() - injected).total_seconds()
    try:
        found = around.patience.until(probe, left, every=0.5)
    except TooLate as late:
        raise StepFailed(
            "alert",
            f"{expected.name} didn't fire within {expected.within_seconds:.0f} s of the injection ({state})",
            "the fault doesn't show in what the rule measures, or `within` is too short",
            expected.origin,
        ) from late
    began = found.since or around.now()
    after = max(0.0, (min(began, around.now()) - injected).total_seconds())
    around.tell(f"{expected.name} fired after {after:.1f} s")
    return SeenAlert(name=expected.name, labels=dict(found.labels), after_seconds=round(after, 3))
