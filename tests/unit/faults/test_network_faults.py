"""The families that create an object: a NetworkPolicy that forgets somebody, a line that is slow."""

from __future__ import annotations

from typing import Any

import jmespath
import pytest
from fault_scene import kind_of

from itbc.dsl.catalogue import FaultRequest, Touch
from itbc.providers.faults.objects.example import EVERYTHING, STORE, WORKLOAD, example

NETPOL, DELAY = kind_of("k8s.netpol.block-ingress"), kind_of("net.delay")


def policy(caller: str = "checkout", **more: Any) -> FaultRequest:
    return example(STORE, caller=caller, policy=None, **more)


def delay(**more: Any) -> FaultRequest:
    given = {"to": "store", "delay": 1.2, "jitter": 0.0, "port": None, "name": None}
    return example(WORKLOAD, **{**given, **more})


def around(request: FaultRequest, *manifests: Any) -> FaultRequest:
    return FaultRequest(
        request.cluster,
        request.namespace,
        request.target_kind,
        request.target_name,
        request.manifest,
        request.parameters,
        (*EVERYTHING, *manifests),
    )


def problems(kind: Any, request: FaultRequest) -> list[tuple[str, str]]:
    return [(each.parameter, each.message) for each in kind.problems(request)]


def test_the_policy_lets_in_all_but_the_caller() -> None:
    (change,) = NETPOL.changes(policy())
    assert change.created is not None
    spec = change.created["spec"]
    assert spec["podSelector"] == {"matchLabels": {"app": "store"}}
    (rule,) = spec["ingress"]
    assert [peer.get("podSelector") for peer in rule["from"]] == [{"matchLabels": {"app": "load"}}, None]
    assert change.created["metadata"] == {"name": "store", "namespace": "shop"}
    assert NETPOL.touches(policy()) == (Touch("NetworkPolicy", "store", ""),)


def test_a_policy_is_never_open_to_everybody() -> None:
    alone = around(policy())
    lonely = FaultRequest("shop", "shop", "StatefulSet", "store", STORE, alone.parameters, (STORE, WORKLOAD))
    (change,) = NETPOL.changes(lonely)
    assert change.created is not None
    (rule,) = change.created["spec"]["ingress"]
    assert len(rule["from"]) == 1  # an empty list would allow all
    assert rule["from"][0]["namespaceSelector"]["matchExpressions"][0]["values"] == ["shop"]


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (policy("store"), [("caller", "this is the target itself")]),
        (policy("stores"), [("caller", "there is no workload `stores` beside the target")]),
        (
            around(policy(), {"kind": "NetworkPolicy", "metadata": {"name": "store"}}),
            [("policy", "a NetworkPolicy `store` is there already")],
        ),
        (
            around(policy(), {"kind": "NetworkPolicy", "metadata": {"name": "all"}, "spec": {"podSelector": {}}}),
            [("", "a NetworkPolicy already governs the target's pods, and what one allows another can't forbid")],
        ),
        (
            around(policy(), {**WORKLOAD, "metadata": {"name": "twin", "namespace": "shop"}}),
            [("caller", "its pods also have the labels of `twin`, which stays allowed")],
        ),
    ],
)
def test_what_a_policy_cant_cut(request_: FaultRequest, found: list[tuple[str, str]]) -> None:
    assert problems(NETPOL, request_) == found


def test_a_policy_needs_a_name_that_kubernetes_takes() -> None:
    wrong = example(STORE, caller="checkout", policy="Store!")
    assert problems(NETPOL, wrong) == [("policy", "this can't be the name of a Kubernetes object")]


def test_dropped_packets_prove_a_policy_and_their_end_its_undo() -> None:
    effect = NETPOL.effect(policy())
    (proof,) = effect.proof
    assert (proof.name, proof.namespace) == ("network-policy-drops", "kube-system")

    def drops(**data: str) -> list[dict[str, Any]]:
        return [{"data": {key.replace("__", "."): value for key, value in data.items()}}]

    assert jmespath.search(proof.expression, drops(shop__store="3")) is True
    for nothing in ([], [{}], drops(shop__store="0"), drops(shop__cart="3")):
        assert jmespath.search(proof.expression, nothing) is False
    _, over = effect.recovery
    assert jmespath.search(over.expression, drops(shop__store="3")) is False
    for nothing in ([], [{}], drops(shop__cart="3")):
        assert jmespath.search(over.expression, nothing) is True


def test_a_delay_says_between_whom_and_how_long() -> None:
    (change,) = DELAY.changes(delay(jitter=0.2, port=8080, name="slow"))
    assert (change.namespace, change.name) == ("kube-system", "slow")
    assert change.created == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "slow",
            "namespace": "kube-system",
            "labels": {"node-network.kubernetes.io/kind": "delay"},
        },
        "data": {
            "from_namespace": "shop",
            "from_selector": "app=checkout",
            "to_namespace": "shop",
            "to_selector": "app=store",
            "delay_milliseconds": "1200",
            "jitter_milliseconds": "200",
            "port": "8080",
        },
    }
    assert DELAY.touches(delay()) == (Touch("ConfigMap", "checkout-store", "", "kube-system"),)


def test_what_a_delay_cant_be() -> None:
    assert problems(DELAY, delay(to="checkout")) == [("to", "this is the target itself")]
    assert problems(DELAY, delay(jitter=2.0)) == [("jitter", "it is longer than the delay itself")]
    none = {**STORE, "metadata": {"name": "rest", "namespace": "shop"}, "spec": {**STORE["spec"], "replicas": 0}}
    assert problems(DELAY, around(delay(to="rest"), none)) == [
        ("to", "it is declared with no replicas, so nothing would be late")
    ]


def test_late_packets_prove_a_delay() -> None:
    (proof,) = DELAY.effect(delay()).proof
    count = "node-network.kubernetes.io/delayed-packets"
    for notes, proven in (({count: "4"}, True), ({count: "0"}, False), ({}, False)):
        found = [{"metadata": {"annotations": notes}}]
        assert jmespath.search(proof.expression, found) is proven
    assert jmespath.search(proof.expression, []) is False
