"""What "healthy" means before anything is broken, and after an undo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from itbc.compiler.plan import AwaitHealthy, Condition, DeployApplication, ObserveCluster
from itbc.compiler.promql import matchers
from itbc.dsl.model import Scenario

WITHIN_SECONDS = 180.0
"""How long an environment that has been applied may take until it is healthy on a busy machine."""

_AVAILABLE: Mapping[str, tuple[str, str, str]] = {
    "Deployment": ("deployment", "kube_deployment_status_replicas_available", "kube_deployment_spec_replicas"),
    "StatefulSet": ("statefulset", "kube_statefulset_status_replicas_ready", "kube_statefulset_replicas"),
    "DaemonSet": (
        "daemonset",
        "kube_daemonset_status_number_ready",
        "kube_daemonset_status_desired_number_scheduled",
    ),
}
"""For each kind of workload its label and the two metrics of kube-state-metrics: pods that serve, pods wanted."""


def await_healthy(
    scenario: Scenario, telemetry: Sequence[ObserveCluster], applications: Sequence[DeployApplication]
) -> AwaitHealthy:
    """Every workload has all its pods, every objective of the healthy state is met, and no expected alert fires."""
    conditions = (*_available(applications), *_objectives(scenario), *_quiet(scenario))
    needs = (*(step.id for step in telemetry), *(step.id for step in applications))
    return AwaitHealthy("healthy", needs, conditions)


def _available(applications: Sequence[DeployApplication]) -> Iterator[Condition]:
    for step in applications:
        kinds = Counter(declared.ref.kind for phase in step.phases for declared in phase)
        for kind, (label, serving, wanted) in _AVAILABLE.items():
            if kinds[kind]:
                yield Condition(
                    f"every {kind} of {step.application} is available",
                    step.cluster,
                    _all_serve(step, kind, label, serving, wanted),
                    WITHIN_SECONDS,
                    step.span,
                )


def _all_serve(step: DeployApplication, kind: str, label: str, serving: str, wanted: str) -> str:
    names = sorted(declared.ref.name for phase in step.phases for declared in phase if declared.ref.kind == kind)
    chosen = matchers({"namespace": step.namespace}, {label: "|".join(names)})
    # Counted, so that a workload whose metrics aren't there yet isn't taken for a healthy one.
    return f"count({serving}{chosen} >= on (namespace, {label}) {wanted}{chosen}) == bool {len(names)}"


def _objectives(scenario: Scenario) -> Iterator[Condition]:
    for objective in scenario.desired.objectives:
        if not objective.baseline:
            continue
        slo = objective.slo
        yield Condition(
            f"objective {objective.name} is met",
            objective.cluster,
            f"({slo.query}) {slo.comparison} bool {slo.bound!r}",
            WITHIN_SECONDS,
            objective.span,
        )


def _quiet(scenario: Scenario) -> Iterator[Condition]:
    for expected in scenario.triggers:
        alerts = matchers({**expected.labels, "alertname": expected.rule.name, "alertstate": "firing"})
        yield Condition(
            f"alert {expected.rule.name} is silent",
            expected.cluster,
            f"(count(ALERTS{alerts}) or vector(0)) == bool 0",
            WITHIN_SECONDS,
            expected.span,
        )
