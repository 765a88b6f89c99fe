"""A Deployment without pods: wrong targets, the Services that lead to nobody else, and what proves it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import jmespath
import pytest
from fault_scene import Json, broken, kind_of, pod, request, spec_changed

from itbc.dsl.catalogue import FaultRequest, LiveCondition
from itbc.providers.faults.objects.example import SERVICE, STORE, WORKLOAD

ZERO = kind_of("k8s.deployment.scaled-to-zero")


def around(*manifests: Any) -> FaultRequest:
    """The fault's example among other declared objects."""
    asked = request(ZERO)
    return FaultRequest(
        asked.cluster, asked.namespace, asked.target_kind, asked.target_name, WORKLOAD, {}, (WORKLOAD, *manifests)
    )


def service(name: str, **fields: Any) -> Json:
    manifest = copy.deepcopy(dict(SERVICE))
    manifest["metadata"]["name"] = name
    manifest["metadata"].update(fields.pop("metadata", {}))
    manifest["spec"].update(fields)
    return manifest


def whole(condition: LiveCondition, objects: Sequence[Any]) -> bool:
    return jmespath.search(condition.expression, list(objects)) is True


def deployment(*, wanted: int = 0, there: int | None = None, seen: int = 2) -> Json:
    """A live Deployment; Kubernetes leaves out a count of zero."""
    status: Json = {"observedGeneration": seen}
    if there is not None:
        status["replicas"] = there
    return {"metadata": {"generation": 2}, "spec": {"replicas": wanted}, "status": status}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (request(ZERO, spec_changed(replicas=0)), "declared with no replicas"),
        (request(ZERO, spec_changed(selector=None, template={})), "selects no pods"),
    ],
)
def test_there_have_to_be_pods_to_lose(asked: FaultRequest, message: str):
    (problem,) = ZERO.problems(asked)
    assert problem.parameter == ""
    assert message in problem.message


def test_only_the_number_is_changed():
    asked = request(ZERO, spec_changed(replicas=3))
    assert broken(ZERO, asked) == spec_changed(replicas=0)
    assert [touch.pointer for touch in ZERO.touches(asked)] == ["/spec/replicas"]


def test_a_number_that_is_not_declared_is_one():
    undeclared = spec_changed()
    del undeclared["spec"]["replicas"]
    (change,) = ZERO.changes(request(ZERO, undeclared))
    assert change.patch[0] == {"op": "test", "path": "/spec/replicas", "value": 1}


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ([deployment()], True),
        ([deployment(there=0)], True),
        ([deployment(seen=1)], False),
        ([deployment(there=1)], False),
        ([deployment(wanted=1, there=1)], False),
        ([], False),
    ],
)
def test_the_controller_has_taken_down_the_last_pod(live: list[Json], expected: bool):  # noqa: FBT001
    assert whole(ZERO.effect(request(ZERO)).proof[0], live) is expected


def test_a_pod_that_goes_away_may_still_answer():
    left = ZERO.effect(request(ZERO)).proof[1]
    assert left.labels == {"app": "checkout"}
    going = pod(WORKLOAD)
    going["metadata"]["deletionTimestamp"] = "2026-12-01T00:00:00Z"
    ended = pod(WORKLOAD)
    ended["status"]["phase"] = "Failed"
    assert whole(left, [])
    assert whole(left, [ended])
    assert not whole(left, [going])
    assert not whole(left, [pod(WORKLOAD)])


@pytest.mark.parametrize(
    ("services", "expected"),
    [
        ([service("checkout"), service("buy")], {"buy", "checkout"}),
        ([service("store", selector={"app": "store"})], set()),
        ([service("elsewhere", metadata={"namespace": "other"})], set()),
        ([service("headless", selector=None)], set()),
        ([], set()),
    ],
)
def test_services_that_lead_to_it_are_empty(services: list[Json], expected: set[str]):
    effect = ZERO.effect(around(STORE, *services))
    for conditions in (effect.proof, effect.recovery):
        named = {each.labels.get("kubernetes.io/service-name") for each in conditions if each.kind == "EndpointSlice"}
        assert named == expected


def test_a_service_that_has_others_too_proves_nothing():
    other = copy.deepcopy(dict(WORKLOAD))
    other["metadata"] = {**other["metadata"], "name": "checkout-canary"}
    effect = ZERO.effect(around(other, service("checkout")))
    assert all(each.kind != "EndpointSlice" for each in (*effect.proof, *effect.recovery))


def test_no_endpoints_are_part_of_the_proof():
    empty = ZERO.effect(request(ZERO)).proof[2]
    assert whole(empty, [{"endpoints": None}])
    assert not whole(empty, [{"endpoints": [{"conditions": {"ready": False, "terminating": True}}]}])
    assert not whole(empty, [])
