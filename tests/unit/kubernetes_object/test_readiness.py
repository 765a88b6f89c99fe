"""When an object is ready, by kind; the states are as controllers write them."""

from __future__ import annotations

from typing import Any

import pytest

from itbc.providers.kubernetes.readiness import Readiness, readiness


def thing(kind: str, spec: dict[str, Any] | None = None, generation: int = 1, **status: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "x", "generation": generation}, "spec": spec or {}, "status": status}


def condition(name: str, status: str = "True", **more: str) -> dict[str, str]:
    return {"type": name, "status": status, **more}


def deployment(**status: Any) -> dict[str, Any]:
    return thing("Deployment", {"replicas": 2}, observedGeneration=1, **status)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (thing("Deployment", {"replicas": 2}, generation=2, observedGeneration=1), "not yet seen"),
        (deployment(), "0 of 2 updated"),
        (deployment(updatedReplicas=2, availableReplicas=1, replicas=2), "1 of 2 available"),
        (deployment(updatedReplicas=2, availableReplicas=2, replicas=3), "1 of the old version still there"),
        (thing("StatefulSet", {"replicas": 1}, observedGeneration=0), "not yet seen"),
        (thing("StatefulSet", {"replicas": 2}, observedGeneration=1, readyReplicas=1), "1 of 2 ready"),
        (
            thing(
                "StatefulSet",
                {"replicas": 1},
                observedGeneration=1,
                readyReplicas=1,
                availableReplicas=1,
                currentRevision="a",
                updateRevision="b",
            ),
            "0 of 1 updated",
        ),
        (
            thing("DaemonSet", observedGeneration=1, desiredNumberScheduled=1, updatedNumberScheduled=1),
            "0 of 1 available",
        ),
        (thing("DaemonSet"), "not yet seen"),
        (thing("Job", {"completions": 3}, succeeded=1), "1 of 3 completed"),
        (thing("Pod", phase="Running", conditions=[condition("Ready", "False")]), "running, not ready"),
        (thing("Namespace", phase="Terminating"), "its phase is Terminating"),
        (thing("PersistentVolumeClaim", phase="Pending"), "pending, not bound"),
        (thing("CustomResourceDefinition"), "not established"),
    ],
)
def test_what_is_missing_is_said(state: dict[str, Any], why: str) -> None:
    found = readiness(state)
    assert not found.ready
    assert not found.failed
    assert why in found.why


@pytest.mark.parametrize(
    "state",
    [
        deployment(updatedReplicas=2, availableReplicas=2, replicas=2),
        thing("Deployment", {"replicas": 0}, observedGeneration=1),
        thing("StatefulSet", {"replicas": 1}, observedGeneration=1, readyReplicas=1, availableReplicas=1),
        thing(
            "StatefulSet",
            {"replicas": 2, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}},
            observedGeneration=1,
            readyReplicas=2,
            availableReplicas=2,
            updatedReplicas=1,
            currentRevision="a",
            updateRevision="b",
        ),
        thing("DaemonSet", observedGeneration=1),
        thing("Job", conditions=[condition("Complete")]),
        thing("Job", {"suspend": True}),
        thing("Pod", phase="Running", conditions=[condition("Ready")]),
        thing("Pod", phase="Succeeded"),
        thing("Namespace", phase="Active"),
        thing("PersistentVolumeClaim", phase="Bound"),
        thing("CustomResourceDefinition", conditions=[condition("Established"), condition("NamesAccepted")]),
        thing("Service"),
        thing("Gadget"),
    ],
)
def test_ready(state: dict[str, Any]) -> None:
    assert readiness(state) == Readiness(ready=True)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (
            deployment(
                conditions=[condition("Progressing", "False", reason="ProgressDeadlineExceeded", message="late")]
            ),
            "late",
        ),
        (thing("Job", conditions=[condition("Failed", message="BackoffLimitExceeded")]), "BackoffLimitExceeded"),
        (thing("Pod", phase="Failed", message="evicted"), "evicted"),
        (thing("PersistentVolumeClaim", phase="Lost"), "lost"),
        (thing("CustomResourceDefinition", conditions=[condition("NamesAccepted", "False", message="taken")]), "taken"),
    ],
)
def test_waiting_longer_would_not_help(state: dict[str, Any], why: str) -> None:
    found = readiness(state)
    assert found.failed
    assert not found.ready
    assert why in found.why
