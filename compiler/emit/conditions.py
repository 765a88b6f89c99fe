"""What proves that a change has taken hold: conditions on live Kubernetes objects, as JMESPath expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from itbc.compiler.plan import Break
from itbc.dsl.catalogue import Effect

Condition = dict[str, Any]
"""`api_version`, `kind`, `namespace`; `name` or `labels`; `expression` over the list of them; `what` it means."""

_SEEN = "[0].status.observedGeneration >= [0].metadata.generation"


def _number(path: str) -> str:
    # Kubernetes leaves out counts that are zero.
    return f"not_null([0].{path}, `0`)"


_THROUGH: Mapping[str, str] = {
    "Deployment": " && ".join(
        [
            _SEEN,
            f"{_number('status.updatedReplicas')} == {_number('spec.replicas')}",
            f"{_number('status.replicas')} == {_number('spec.replicas')}",
            f"{_number('status.availableReplicas')} == {_number('spec.replicas')}",
        ]
    ),
    "StatefulSet": " && ".join(
        [
            _SEEN,
            "[0].status.currentRevision == [0].status.updateRevision",
            f"{_number('status.readyReplicas')} == {_number('spec.replicas')}",
        ]
    ),
    "DaemonSet": " && ".join(
        [
            _SEEN,
            f"{_number('status.updatedNumberScheduled')} == {_number('status.desiredNumberScheduled')}",
            f"{_number('status.numberAvailable')} == {_number('status.desiredNumberScheduled')}",
        ]
    ),
}
"""When the rollout of a workload has gone through, over the list that holds it."""

_LIVE = "[?!(metadata.deletionTimestamp) && status.phase != 'Succeeded' && status.phase != 'Failed']"


def rollout_conditions(step: Break) -> list[Condition]:
    """Every workload that the effect names has rolled its present template out."""
    return [
        {
            "api_version": "apps/v1",
            "kind": kind,
            "namespace": step.namespace,
            "name": name,
            "expression": f"length(@) == `1` && {_THROUGH[kind]}",
            "what": f"the rollout of {kind} {step.namespace}/{name} has gone through",
        }
        for kind, name in step.effect.rollout
    ]


def effect_conditions(step: Break) -> list[Condition]:
    """The rollouts, and what must be true of every running pod."""
    conditions = rollout_conditions(step)
    if step.effect.pod_expression:
        conditions.append(_pods(step.namespace, step.effect))
    return conditions


def _pods(namespace: str, effect: Effect) -> Condition:
    changed = f"{_LIVE} | [?{effect.pod_expression}]"
    return {
        "api_version": "v1",
        "kind": "Pod",
        "namespace": namespace,
        "labels": dict(sorted(effect.pods.items())),
        "expression": f"length({_LIVE}) > `0` && length({_LIVE}) == length({changed})",
        "what": f"every pod of {namespace} with {_selector(effect.pods)} has the change",
    }


def _selector(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
