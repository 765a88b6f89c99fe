"""Step 2: see the environment healthy and quiet."""

from __future__ import annotations

from itbc.contracts.environment import Baseline
from itbc.contracts.shape import Shape
from itbc.runner.failures import StepFailed
from itbc.runner.outside.prometheus import Monitoring, MonitoringUnreachable
from itbc.runner.steps.access import Access
from itbc.runner.surroundings import Surroundings
from itbc.runner.waiting import TooLate

QUIET_SECONDS = 120.0
"""How long alerts that a start-up raised may take to be resolved."""


class BaselineInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters."""

    accesses: list[Access]


class BaselineOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When each condition was met, in seconds since the step began."""

    met: dict[str, float]


def baseline(step: BaselineInput, around: Surroundings) -> BaselineOutput:
    """Wait until every baseline condition holds and no alert is on. Raises StepFailed."""
    begin = around.patience.monotonic()
    met: dict[str, float] = {}
    for access in step.accesses:
        conditions = [each for each in around.environment.baseline if each.cluster == access.cluster]
        with Monitoring(access.prometheus, access.alertmanager) as monitoring:
            for condition in conditions:
                around.tell(f"waiting for {condition.name}")
                _hold(condition, monitoring, around)
                met[condition.name] = round(around.patience.monotonic() - begin, 3)
            around.tell("waiting until no alert is on")
            _quiet(access.cluster, monitoring, around)
            met[f"quiet {access.cluster}"] = round(around.patience.monotonic() - begin, 3)
    return BaselineOutput(met=met)


def _hold(condition: Baseline, monitoring: Monitoring, around: Surroundings) -> None:
    seen = "no answer"

    def probe() -> bool | None:
        nonlocal seen
        try:
            values = monitoring.query(condition.query)
        except MonitoringUnreachable as wrong:
            seen = str(wrong)
            return None
        seen = f"got {values}" if values else "got no sample"
        return True if values and all(values) else None

    try:
        around.patience.until(probe, condition.within_seconds, every=0.5)
    except TooLate as late:
        raise StepFailed(
            "environment",
            f"not healthy: {condition.name} didn't become true within {condition.within_seconds:.0f} s ({seen})",
            "run with --keep and look at the pods with kubectl",
            condition.origin,
        ) from late


def _quiet(cluster: str, monitoring: Monitoring, around: Surroundings) -> None:
    """Wait until nothing fires and no alert that the scenario expects is about to."""
    expected = {each.name for each in around.environment.alerts if each.cluster == cluster}
    on: list[str] = []

    def probe() -> bool | None:
        nonlocal on
        try:
            alerts = monitoring.alerts()
        except MonitoringUnreachable as wrong:
            on = [str(wrong)]
            return None
        on = sorted({each.name for each in alerts if each.state == "firing" or each.name in expected})
        return None if on else True

    try:
        around.patience.until(probe, QUIET_SECONDS, every=0.5)
    except TooLate as late:
        raise StepFailed(
            "environment",
            f"not healthy: alerts are on before anything was broken: {', '.join(on)}",
            "the alert is too sensitive for the healthy application, or the application isn't healthy",
        ) from late
