"""The conditions that proofs are built from, against objects as the API server gives them."""

from __future__ import annotations

import copy
from typing import Any

import jmespath
import pytest

from itbc.dsl.catalogue import LiveCondition
from itbc.providers.faults.objects import conditions

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


def true_of(condition: LiveCondition, live: list[Json]) -> bool:
    return jmespath.search(condition.expression, live) is True


def holds(kind: str, live: list[Json]) -> bool:
    condition = conditions.rolled_out(kind, "x")
    assert (condition.api_version, condition.kind, condition.name) == ("apps/v1", kind, "x")
    return true_of(condition, live)


@pytest.mark.parametrize(
    ("kind", "live"), [("Deployment", DEPLOYMENT), ("StatefulSet", STATEFUL_SET), ("DaemonSet", DAEMON_SET)]
)
def test_a_rollout_that_has_gone_through(kind: str, live: Json):
    assert holds(kind, [live])
    assert not holds(kind, [])


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
def test_a_rollout_on_its_way(kind: str, live: Json, changes: Json):
    now = copy.deepcopy(live)
    for key, value in changes.items():
        if value is None:
            del now["status"][key]
        else:
            now["status"][key] = value
    assert not holds(kind, [now])


def test_a_workload_of_no_pods_has_rolled_out():
    scaled = {"metadata": {"generation": 2}, "spec": {"replicas": 0}, "status": {"observedGeneration": 2}}
    assert holds("Deployment", [scaled])


def pod(tier: str, phase: str = "Running", *, going: bool = False, ready: bool = True, restarts: int = 0) -> Json:
    metadata: Json = {"name": "p", **({"deletionTimestamp": "2026-01-01T00:00:00Z"} if going else {})}
    return {
        "metadata": metadata,
        "spec": {"tier": tier, "containers": [{"name": "proxy"}, {"name": "app", "image": "x:1"}]},
        "status": {
            "phase": phase,
            "conditions": [{"type": "Initialized", "status": "True"}, {"type": "Ready", "status": str(ready)}],
            "containerStatuses": [{"name": "app", "restartCount": restarts}, {"name": "proxy", "restartCount": 9}],
        },
    }


NEW = "spec.tier == 'new'"
LABELS = {"app": "x"}


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        ([pod("new")], True),
        ([pod("new"), pod("old", going=True)], True),
        ([pod("new"), pod("old", "Failed")], True),
        ([pod("new"), pod("new", "Pending", ready=False)], False),
        ([pod("new"), pod("old")], False),
        ([pod("new", restarts=1, ready=False), pod("old")], True),
        ([pod("new", ready=False), pod("old", restarts=1)], False),
        ([pod("old")], False),
        ([pod("new", going=True)], False),
        ([], False),
    ],
)
def test_a_change_has_arrived_when_all_pods_live_with_it_or_one_does_not(pods: list[Json], expected: bool):  # noqa: FBT001
    condition = conditions.arrived(LABELS, NEW, "app", "changed")
    assert (condition.kind, condition.labels, condition.name) == ("Pod", LABELS, "")
    assert true_of(condition, pods) is expected


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        ([pod("new", ready=False)], True),
        ([pod("new", ready=False), pod("old")], True),
        ([pod("new", ready=False), pod("new")], False),
        ([pod("new", ready=False, going=True)], False),
        ([pod("old", ready=False)], False),
        ([], False),
    ],
)
def test_none_serves_means_that_there_is_one_that_should(pods: list[Json], expected: bool):  # noqa: FBT001
    assert true_of(conditions.none_serves(LABELS, NEW, "dead"), pods) is expected


def test_parts_of_containers_are_found_by_name():
    one = pod("new", restarts=3)
    assert jmespath.search(conditions.status_of("app", "restartCount"), one) == 3
    assert jmespath.search(conditions.declared_in("app", "image"), one) == "x:1"
    assert jmespath.search(conditions.declared_in("none", "image"), one) is None
    assert true_of(conditions.some_pod(LABELS, f"{conditions.status_of('app', 'restartCount')} > `2`", "w"), [one])
    starting = {"metadata": {}, "spec": {}, "status": {"phase": "Pending"}}
    assert not true_of(conditions.some_pod(LABELS, conditions.READY, "w"), [starting])


def slices(*ready: bool) -> list[Json]:
    empty: Json = {"endpoints": None, "ports": None}
    return [empty, {"endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": each}} for each in ready]}]


def test_a_service_has_endpoints_when_one_is_ready():
    condition = conditions.has_endpoints("cart")
    assert (condition.kind, condition.labels) == ("EndpointSlice", {"kubernetes.io/service-name": "cart"})
    assert true_of(condition, slices(False, True))
    assert not true_of(condition, slices(False))
    assert not true_of(condition, [])
