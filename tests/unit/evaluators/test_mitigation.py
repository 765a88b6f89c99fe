"""Safeguards and objectives: the right end state passes, its mutants fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from shop_scene import (
    BASELINE,
    changed,
    container,
    deployment,
    entity,
    evaluation,
    evidence,
    guard,
    objective,
    replaced,
    samples,
    service,
)

from itbc.contracts.evaluation import Exemption
from itbc.contracts.evidence import ObjectState, Series
from itbc.contracts.score import Verdict
from itbc.evaluators.mitigation import judge_objective, judge_safeguard, mitigate


def judge(after: Sequence[ObjectState], **changes: Any) -> Verdict:
    return judge_safeguard(guard(**changes), BASELINE, after)


def restart(thing: dict[str, Any]) -> None:
    annotations = thing["spec"]["template"]["metadata"].setdefault("annotations", {})
    annotations["kubectl.kubernetes.io/restartedAt"] = "2030-01-01T00:00:00Z"
    thing["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "7"
    thing["metadata"]["generation"] = 9


def test_the_healthy_state_passes() -> None:
    verdict = judge(BASELINE)
    assert verdict.passed
    assert verdict.reason == "all 10 objects are as they were"


def drop_variable(thing: dict[str, Any]) -> None:
    container(thing)["env"] = [v for v in container(thing)["env"] if v["name"] != "PAYMENT_ADDR"]


def drop_all_variables(thing: dict[str, Any]) -> None:
    del container(thing)["env"]


def last_variable_from_a_config_map(thing: dict[str, Any]) -> None:
    drop_variable(thing)
    source = {"configMapKeyRef": {"name": "addresses", "key": "payment"}}
    container(thing)["env"].append({"name": "PAYMENT_ADDR", "valueFrom": source})


@pytest.mark.parametrize(
    "repaired",
    [
        pytest.param(deployment("checkout", "http://payment.shop.svc:8080"), id="another address that works"),
        pytest.param(changed(deployment("checkout"), restart), id="restarted"),
        pytest.param(changed(deployment("checkout"), drop_variable), id="left to its default"),
        pytest.param(changed(deployment("checkout"), last_variable_from_a_config_map), id="from a ConfigMap"),
    ],
)
def test_every_way_to_change_only_the_faulted_field_passes(repaired: ObjectState) -> None:
    verdict = judge(replaced(repaired))
    assert verdict.passed, verdict.reason


def set_image(thing: dict[str, Any]) -> None:
    container(thing)["image"] = "itbc.local/shop:2"


def scale(thing: dict[str, Any]) -> None:
    thing["spec"]["replicas"] = 0


def other_variable(thing: dict[str, Any]) -> None:
    container(thing)["env"][1]["value"] = "frontend"


def new_variable(thing: dict[str, Any]) -> None:
    container(thing)["env"].append({"name": "FAULTS", "value": "off"})


def sidecar(thing: dict[str, Any]) -> None:
    thing["spec"]["template"]["spec"]["containers"].append({"name": "proxy", "image": "proxy:1"})


def new_label(thing: dict[str, Any]) -> None:
    thing["metadata"]["labels"]["touched"] = "yes"


def being_deleted(thing: dict[str, Any]) -> None:
    thing["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"


def other_selector(thing: dict[str, Any]) -> None:
    thing["spec"]["selector"] = {"app": "checkout"}


def other_port(thing: dict[str, Any]) -> None:
    thing["spec"]["ports"][0]["targetPort"] = 9999


CONTAINER = "/spec/template/spec/containers/checkout"


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        pytest.param(
            replaced(changed(deployment("checkout"), set_image)),
            f"Deployment checkout in shop: {CONTAINER}/image was 'itbc.local/shop:1', is 'itbc.local/shop:2'",
            id="another field of the faulted object",
        ),
        pytest.param(
            replaced(changed(deployment("checkout"), other_variable)),
            f"{CONTAINER}/env/ROLE/value was 'checkout', is 'frontend'",
            id="the variable next to it",
        ),
        pytest.param(
            replaced(changed(deployment("checkout"), drop_all_variables)),
            f"{CONTAINER}/env/ROLE/name was removed",
            id="all variables dropped",
        ),
        pytest.param(
            replaced(changed(deployment("checkout"), new_variable)),
            f"{CONTAINER}/env/FAULTS/name was added",
            id="one variable more",
        ),
        pytest.param(
            replaced(changed(deployment("checkout"), sidecar)),
            "/spec/template/spec/containers/proxy/image was added",
            id="one container more",
        ),
        pytest.param(
            replaced(changed(deployment("payment"), scale)),
            "Deployment payment in shop: /spec/replicas was 1, is 0",
            id="a neighbour scaled",
        ),
        pytest.param(
            replaced(deployment("frontend", "http://other")),
            "Deployment frontend in shop: /spec/template/spec/containers/frontend/env/PAYMENT_ADDR/value",
            id="the same field of a neighbour",
        ),
        pytest.param(
            replaced(changed(deployment("load"), new_label)),
            "Deployment load in shop: /metadata/labels/touched was added",
            id="a label",
        ),
        pytest.param(
            replaced(changed(service("payment"), other_selector)),
            "Service payment in shop: /spec/selector/app was 'payment', is 'checkout'",
            id="a service turned to something else",
        ),
        pytest.param(
            replaced(changed(service("payment"), other_port)),
            "Service payment in shop: /spec/ports/0/targetPort was 8080, is 9999",
            id="a port of a service",
        ),
        pytest.param(
            [state for state in BASELINE if state.entity.name != "load"],
            "Deployment load in shop is missing; Service load in shop is missing",
            id="objects deleted",
        ),
        pytest.param([*BASELINE, deployment("payment-2")], "Deployment payment-2 in shop is new", id="an object more"),
        pytest.param(
            replaced(changed(deployment("checkout"), restart, uid="uid-2")),
            "Deployment checkout in shop was deleted and made again",
            id="deleted and made again, just as it was",
        ),
        pytest.param(
            replaced(changed(deployment("payment"), being_deleted)),
            "Deployment payment in shop: /metadata/deletionTimestamp was added",
            id="about to be deleted",
        ),
    ],
)
def test_every_other_end_state_fails_and_says_what_and_where(after: list[ObjectState], reason: str) -> None:
    verdict = judge(after)
    assert not verdict.passed
    assert verdict.value == 0
    assert reason in verdict.reason


def test_only_the_guarded_place_and_kinds_are_looked_at() -> None:
    after = replaced(changed(service("payment"), other_port))
    assert judge(after, kinds=["deployment"]).passed
    assert not judge(after, kinds=["service"]).passed
    assert judge(after, namespace="other").passed
    assert judge(after, cluster="other").passed


def test_a_pattern_covers_what_lies_below_and_any_one_segment() -> None:
    after = replaced(changed(deployment("checkout"), set_image))
    whole = Exemption(entity=entity("checkout"), pointer="/spec/template/spec/containers/*/image")
    assert judge(after, exemptions=[whole]).passed
    assert not judge(after, exemptions=[Exemption(entity=entity("payment"), pointer=whole.pointer)]).passed
    assert not judge(after, exemptions=[Exemption(entity=entity("checkout"), pointer="/spec/*/image")]).passed
    assert judge(after, exemptions=[Exemption(entity=entity("checkout"), pointer="/spec/template")]).passed
    assert not judge(after, exemptions=[Exemption(entity=entity("checkout"), pointer="/spec/temp")]).passed
    deeper = Exemption(entity=entity("checkout"), pointer=f"{CONTAINER}/image/tag")
    assert not judge(after, exemptions=[deeper]).passed


def test_where_the_fault_took_the_object_away_another_one_may_stand_there() -> None:
    again = replaced(changed(service("payment"), lambda _: None, uid="uid-2"))
    allowed = Exemption(entity=entity("payment", "Service"), pointer="/metadata/uid")
    assert not judge(again).passed
    assert judge(again, exemptions=[allowed]).passed
    wrong = replaced(changed(service("payment"), other_port, uid="uid-2"))
    assert not judge(wrong, exemptions=[allowed]).passed
    anything = Exemption(entity=entity("payment", "Service"), pointer="")
    assert judge(wrong, exemptions=[anything]).passed


def test_what_kubernetes_makes_from_a_workload_is_not_guarded_but_what_an_operator_makes_is() -> None:
    def owned(name: str, owner: str, api_version: str) -> ObjectState:
        owner_reference = {"apiVersion": api_version, "kind": owner, "name": "x", "uid": "u", "controller": True}
        thing = {"metadata": {"name": name, "namespace": "shop", "ownerReferences": [owner_reference]}, "spec": {}}
        return ObjectState(entity=entity(name, "ReplicaSet"), uid=f"uid-{name}", object=thing)

    kinds = ["ReplicaSet"]
    guarded = guard(kinds=kinds)
    old, new = owned("checkout-1", "Deployment", "apps/v1"), owned("checkout-2", "Deployment", "apps/v1")
    assert judge_safeguard(guarded, [old], [new]).passed
    ours, theirs = owned("db-1", "Database", "example.org/v1"), owned("db-2", "Database", "example.org/v1")
    assert not judge_safeguard(guarded, [ours], [theirs]).passed


def test_an_object_that_claims_an_owner_that_would_not_make_it_is_guarded() -> None:
    def claim(thing: dict[str, Any]) -> None:
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "checkout", "uid": "uid-checkout"}
        thing["metadata"]["ownerReferences"] = [{**owner, "controller": True}]

    hidden = changed(deployment("checkout-next"), claim)
    assert judge([*BASELINE, hidden]).reason == "Deployment checkout-next in shop is new"


def test_what_is_left_behind_without_an_owner_is_guarded() -> None:
    orphan = ObjectState(
        entity=entity("checkout-spare-1", "ReplicaSet"),
        uid="u",
        object={"metadata": {"name": "checkout-spare-1", "namespace": "shop"}, "spec": {}},
    )
    verdict = judge([*BASELINE, orphan], kinds=["Deployment", "ReplicaSet", "Service"])
    assert verdict.reason == "ReplicaSet checkout-spare-1 in shop is new"


def test_many_changes_are_named_in_part_and_counted() -> None:
    after = replaced(*[changed(deployment(name), scale) for name in ("load", "frontend", "catalogue", "payment")])
    assert judge(after).reason.endswith("(and 1 more)")


def test_missing_null_and_empty_are_the_same() -> None:
    def empty(thing: dict[str, Any]) -> None:
        thing["spec"]["template"]["spec"] |= {"securityContext": {}, "volumes": [], "nodeName": None}

    assert judge(replaced(changed(deployment("payment"), empty))).passed


def test_a_list_that_loses_its_names_is_compared_by_position() -> None:
    def rename(thing: dict[str, Any]) -> None:
        container(thing)["env"][1]["name"] = "PAYMENT_ADDR"

    verdict = judge(replaced(changed(deployment("checkout"), rename)))
    assert not verdict.passed
    assert f"{CONTAINER}/env/1/name was 'ROLE', is 'PAYMENT_ADDR'" in verdict.reason


def test_pointers_escape_slashes() -> None:
    def annotate(thing: dict[str, Any]) -> None:
        thing["metadata"]["annotations"]["example.org/a~b"] = "x"

    after = replaced(changed(deployment("checkout"), annotate))
    pointer = "/metadata/annotations/example.org~1a~0b"
    assert f"{pointer} was added" in judge(after).reason
    assert judge(after, exemptions=[Exemption(entity=entity("checkout"), pointer=pointer)]).passed


def test_an_objective_without_a_series_fails() -> None:
    verdict = judge_objective(objective(), None)
    assert not verdict.passed
    assert "no series" in verdict.reason


def test_an_objective_is_worth_the_part_of_the_hold_that_was_reached() -> None:
    half = Series(objective="orders-succeed", step_seconds=1.0, samples=samples((21, 0.3)))
    assert judge_objective(objective(), half).value == 0
    part = Series(objective="orders-succeed", step_seconds=1.0, samples=samples((15, 0.3), (6, 0.0), (20, 0.3)))
    assert judge_objective(objective(), part).value == pytest.approx(0.5)


def test_mitigation_is_the_share_of_objectives_and_nothing_where_a_safeguard_broke() -> None:
    two = evaluation()
    two.objectives.append(objective(name="latency", bound=-1))
    seen = evidence()
    seen.series.append(Series(objective="latency", step_seconds=1.0, samples=samples((40, 0.0))))
    half = mitigate(two, seen)
    assert (half.value, half.passed) == (0.5, False)
    broken = mitigate(evaluation(), evidence(after=replaced(changed(deployment("payment"), scale))))
    assert (broken.value, broken.passed) == (0.0, False)
    whole = mitigate(evaluation(), evidence(after=replaced(deployment("checkout", "http://elsewhere"))))
    assert (whole.value, whole.passed) == (1.0, True)
