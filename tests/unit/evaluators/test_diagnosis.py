"""Diagnoses against the shop's topology."""

from __future__ import annotations

import pytest
from shop_scene import NAMES, agent, cause, component, entity, truth

from itbc.contracts.answer import Cause
from itbc.contracts.evaluation import Entity, Truth
from itbc.evaluators.diagnosis import diagnose

SHOTGUN = [cause(name, kind) for name in NAMES for kind in ("Deployment", "Service")]


@pytest.mark.parametrize(
    ("claims", "value", "exact"),
    [
        pytest.param([cause("checkout")], 1, True, id="the cause itself"),
        pytest.param([cause("checkout", "Service")], 1 / 2, False, id="another object of the component"),
        pytest.param([cause("payment")], 1 / 3, False, id="a component that it calls"),
        pytest.param([cause("frontend")], 1 / 3, False, id="a component that calls it"),
        pytest.param([cause("load")], 1 / 4, False, id="two calls away"),
        pytest.param([cause("catalogue")], 1 / 4, False, id="two calls away, by way of a common caller"),
        pytest.param([cause("kubelet", "Node", "", "")], 0, False, id="no part of the application"),
        pytest.param([cause("checkout", "ConfigMap")], 0, False, id="an object that doesn't exist"),
        pytest.param([], 0, False, id="nothing"),
        pytest.param([cause("checkout"), cause("payment")], 1 / 2, False, id="one too many"),
        pytest.param([cause("payment"), cause("frontend")], 0, False, id="a list of neighbours"),
        pytest.param(SHOTGUN, 1 / 10, False, id="everything"),
    ],
)
def test_one_cause(claims: list[Cause], value: float, *, exact: bool) -> None:
    diagnosis = diagnose(truth(), agent(*claims))
    assert diagnosis.value == pytest.approx(value)
    assert diagnosis.exact is exact


@pytest.mark.parametrize(
    ("claims", "value", "exact"),
    [
        pytest.param([cause("checkout"), cause("catalogue")], 1, True, id="both"),
        pytest.param([cause("checkout")], 1 / 2, False, id="one of them"),
        pytest.param([cause("checkout"), cause("catalogue", "Service")], 3 / 4, False, id="one and a near one"),
        # The frontend is next to both, but one claim can't stand for two causes.
        pytest.param([cause("frontend")], 1 / 6, False, id="what lies between"),
        pytest.param([cause("frontend"), cause("payment")], 1 / 3, False, id="two near ones, paired as is best"),
        pytest.param([cause("checkout"), cause("catalogue"), cause("load")], 2 / 3, False, id="both and one more"),
    ],
)
def test_two_causes(claims: list[Cause], value: float, *, exact: bool) -> None:
    diagnosis = diagnose(truth(entity("checkout"), entity("catalogue")), agent(*claims))
    assert diagnosis.value == pytest.approx(value)
    assert diagnosis.exact is exact


@pytest.mark.parametrize(
    "words",
    [
        cause("checkout", "deployment"),
        cause("checkout", "DEPLOYMENT", "", ""),
        cause("checkout", namespace=""),
        cause("checkout", cluster=""),
        cause(" checkout ", " Deployment "),
    ],
)
def test_a_claim_may_leave_out_what_is_clear(words: Cause) -> None:
    assert diagnose(truth(), agent(words)).exact


@pytest.mark.parametrize("words", [cause("checkout", namespace="other"), cause("checkout", cluster="other")])
def test_a_claim_for_another_place_is_wrong(words: Cause) -> None:
    assert diagnose(truth(), agent(words)).value == 0


def test_an_ambiguous_claim_is_wrong_until_the_namespace_is_said() -> None:
    there = Entity(cluster="shop", namespace="canary", kind="Deployment", name="checkout")
    twice = Truth(root_causes=[entity("checkout")], chain=[], topology=[component("checkout"), component("canary")])
    twice.topology[1].entities.append(there)
    vague = diagnose(twice, agent(cause("checkout", namespace="")))
    assert vague.value == 0
    assert "more than one thing" in vague.verdicts[-1].reason
    assert diagnose(twice, agent(cause("checkout"))).exact


def test_naming_the_same_thing_twice_counts_once() -> None:
    assert diagnose(truth(), agent(cause("checkout"), cause("checkout", "deployment", ""))).exact


def test_an_object_of_several_components_is_as_near_as_the_nearest_of_them() -> None:
    shared = entity("addresses", "ConfigMap")
    topology = [component("a", "b"), component("b", "c"), component("c")]
    for each in (topology[0], topology[2]):
        each.entities.append(shared)
    both = Truth(root_causes=[entity("a")], chain=[], topology=topology)
    assert diagnose(both, agent(cause("addresses", "ConfigMap"))).value == pytest.approx(1 / 2)


def test_a_cause_outside_the_topology_is_found_only_by_its_name() -> None:
    quota = entity("tight", "ResourceQuota")
    assert diagnose(truth(quota), agent(cause("tight", "ResourceQuota"))).exact
    assert diagnose(truth(quota), agent(cause("checkout"))).value == 0


def test_nothing_at_fault_is_found_by_blaming_nothing() -> None:
    healthy = Truth(root_causes=[], chain=[], topology=[])
    assert diagnose(healthy, agent()).exact
    assert diagnose(healthy, agent()).value == 1
    assert diagnose(healthy, agent(cause("checkout"))).value == 0
    assert diagnose(healthy, agent(answered=False)).value == 0


def test_no_answer_scores_nothing_and_says_so() -> None:
    silent = diagnose(truth(), agent(answered=False))
    assert (silent.value, silent.exact) == (0, False)
    assert silent.verdicts[0].reason == "no answer was handed in"
    garbled = diagnose(truth(), agent(answered=False, problem="line 3: not JSON"))
    assert "line 3: not JSON" in garbled.verdicts[0].reason


def test_verdicts_name_the_cause_what_was_near_and_what_was_wrong() -> None:
    right = diagnose(truth(), agent(cause("checkout"))).verdicts
    assert [(v.name, v.passed, v.reason) for v in right] == [("Deployment checkout in shop", True, "named")]
    near, extra = diagnose(truth(), agent(cause("payment"))).verdicts
    assert near.reason == "not named; the nearest claim is Deployment payment in shop, 2 steps away"
    assert not near.passed
    assert extra.name == "not a cause: Deployment payment in shop"
    assert extra.reason == "named as a cause, but 2 steps away from Deployment checkout in shop"
    missed, unknown = diagnose(truth(), agent(cause("kubelet", "Node", "", ""))).verdicts
    assert missed.reason == "not named"
    assert unknown.reason == "named as a cause, but no part of the application"
