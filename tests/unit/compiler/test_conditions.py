"""What counts as proof, against objects as the API server gives them."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import jmespath
import pytest

from itbc.compiler.emit.conditions import effect_conditions, rollout_conditions
from itbc.compiler.plan import Plan
from itbc.dsl.catalogue import Effect

Json = dict[str, Any]

DEPLOYMENT: Json = {
    "metadata": {"generation": 2},
    "spec": {"replicas": 2},
    "status": {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2},
}
STATEFUL_SET: Json = {
    "metadata": {"generation": 3},
    "spec": {"replicas": 1},
    "status": {"observedGeneration": 3, "readyReplicas": 1, "currentRevision": "b", "updateRevision": "b"},
}
DAEMON_SET: Json = {
    "metadata": {"generation": 1},
    "status": {
        "observedGeneration": 1,
        "updatedNumberScheduled": 1,
        "desiredNumberScheduled": 1,
        "numberAvailable": 1,
    },
}


def holds(plan: Plan, kind: str, live: list[Json]) -> bool:
    (fault,) = plan.faults
    (condition,) = rollout_conditions(replace(fault, effect=Effect(10.0, rollout=((kind, "x"),))))
    assert (condition["api_version"], condition["kind"], condition["name"]) == ("apps/v1", kind, "x")
    return jmespath.search(condition["expression"], live) is True


@pytest.mark.parametrize(
    ("kind", "live"), [("Deployment", DEPLOYMENT), ("StatefulSet", STATEFUL_SET), ("DaemonSet", DAEMON_SET)]
)
def test_a_rollout_that_has_gone_through(plan: Plan, kind: str, live: Json):
    assert holds(plan, kind, [live])
    assert not holds(plan, kind, [])


@pytest.mark.parametrize(
    ("kind", "live", "changes"),
    [
        ("Deployment", DEPLOYMENT, {"observedGeneration": 1}),
        ("Deployment", DEPLOYMENT, {"replicas": 3}),
        ("Deployment", DEPLOYMENT, {"updatedReplicas": 1}),
        ("Deployment", DEPLOYMENT, {"availableReplicas": None}),
        ("StatefulSet", STATEFUL_SET, {"currentRevision": "a"}),
        ("StatefulSet", STATEFUL_SET, {"readyReplicas": None}),
        ("StatefulSet", STATEFUL_SET, {"observedGeneration": 2}),
        ("DaemonSet", DAEMON_SET, {"updatedNumberScheduled": None}),
        ("DaemonSet", DAEMON_SET, {"numberAvailable": 0}),
    ],
)
def test_a_rollout_on_its_way(plan: Plan, kind: str, live: Json, changes: Json):
    now = copy.deepcopy(live)
    for key, value in changes.items():
        if value is None:
            del now["status"][key]
        else:
            now["status"][key] = value
    assert not holds(plan, kind, [now])


def test_a_workload_of_no_pods_has_rolled_out(plan: Plan):
    scaled = {"metadata": {"generation": 2}, "spec": {"replicas": 0}, "status": {"observedGeneration": 2}}
    assert holds(plan, "Deployment", [scaled])


def pod(value: str, phase: str = "Running", *, going: bool = False) -> Json:
    metadata: Json = {"name": "p", **({"deletionTimestamp": "2026-01-01T00:00:00Z"} if going else {})}
    env = [{"name": "PAYMENT_ADDR", "value": value}]
    return {
        "metadata": metadata,
        "spec": {"containers": [{"name": "checkout", "env": env}]},
        "status": {"phase": phase},
    }


WRONG = "payment:9999"


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        ([pod(WRONG)], True),
        ([pod(WRONG), pod(WRONG, "Pending")], True),
        ([pod(WRONG), pod("payment:8080", going=True)], True),
        ([pod(WRONG), pod("payment:8080", "Failed")], True),
        ([pod(WRONG), pod("payment:8080")], False),
        ([pod("payment:8080")], False),
        ([pod(WRONG, going=True)], False),
        ([], False),
    ],
)
def test_every_pod_that_stays_has_the_change_and_there_is_one(plan: Plan, pods: list[Json], expected: bool):  # noqa: FBT001
    (fault,) = plan.faults
    rollout, pods_condition = effect_conditions(fault)
    assert rollout["name"] == "checkout"
    assert pods_condition["labels"] == {"app": "checkout"}
    assert jmespath.search(pods_condition["expression"], pods) is expected
