"""Laws of the diagnosis score, on topologies of any shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from itbc.contracts.answer import Answer, Cause
from itbc.contracts.evaluation import Component, Entity, Truth
from itbc.contracts.evidence import AgentRun
from itbc.evaluators.diagnosis import Diagnosis, diagnose
from itbc.evaluators.topology import Topology, key_of

NAMES = ["a", "b", "c", "d", "e"]
KINDS = ["Deployment", "Service"]
ENTITIES = [Entity(cluster="k", namespace="n", kind=kind, name=name) for name in NAMES for kind in KINDS]
NOWHERE = [Cause(kind="Node", name=f"node-{i}") for i in range(3)]


def topology_of(calls: Sequence[Sequence[str]]) -> list[Component]:
    return [
        Component(name=name, entities=[e for e in ENTITIES if e.name == name], calls=list(callees))
        for name, callees in zip(NAMES, calls, strict=True)
    ]


topologies = st.lists(
    st.lists(st.sampled_from(NAMES), max_size=3, unique=True), min_size=len(NAMES), max_size=len(NAMES)
).map(topology_of)
some_entities = st.lists(st.sampled_from(ENTITIES), max_size=4, unique_by=key_of)
causes = st.lists(st.sampled_from(ENTITIES), min_size=1, max_size=3, unique_by=key_of)
mixed = st.permutations(ENTITIES)


@st.composite
def full_answers(draw: st.DrawFn) -> tuple[list[Entity], list[Entity], Entity]:
    """Causes, at least as many entities that are named, and one more that is neither."""
    wrong, *others = draw(mixed)
    true = others[: draw(st.integers(1, 3))]
    return true, draw(st.permutations(others))[: draw(st.integers(len(true), 4))], wrong


@st.composite
def partly_wrong_answers(draw: st.DrawFn) -> tuple[list[Entity], list[Entity], Entity, Entity]:
    """Causes, what is named, one of that which is no cause, and one cause that isn't named."""
    wrong, missed, *others = draw(mixed)
    count = draw(st.integers(0, 2))
    named = draw(st.permutations([wrong, *draw(st.permutations(others))[: draw(st.integers(0, 3))]]))
    return [missed, *others[:count]], named, wrong, missed


@st.composite
def short_answers(draw: st.DrawFn) -> tuple[list[Entity], list[Entity], Entity]:
    """Causes, fewer entities that are named, and one cause that isn't named."""
    missed, *others = draw(mixed)
    count = draw(st.integers(0, 2))
    return [missed, *others[:count]], draw(st.permutations(others))[: draw(st.integers(0, count))], missed


def claim(entity: Entity) -> Cause:
    return Cause(cluster=entity.cluster, namespace=entity.namespace, kind=entity.kind, name=entity.name)


def judge(topology: list[Component], true: Sequence[Entity], claims: Sequence[Cause]) -> Diagnosis:
    truth = Truth(root_causes=list(true), chain=[], topology=topology)
    answer = Answer(root_causes=list(claims))
    return diagnose(truth, AgentRun(name="x", outcome="finished", exit_code=0, seconds=0, answer=answer))


@given(topologies, causes, some_entities)
def test_between_0_and_1_and_1_exactly_for_the_true_set(
    topology: list[Component], true: list[Entity], named: list[Entity]
) -> None:
    diagnosis = judge(topology, true, [claim(e) for e in named])
    assert 0 <= diagnosis.value <= 1
    assert (diagnosis.value == 1) == diagnosis.exact == (set(map(key_of, named)) == set(map(key_of, true)))
    assert judge(topology, true, [claim(e) for e in true]).value == 1


@given(topologies, causes, some_entities, st.randoms(use_true_random=False))
def test_order_does_not_matter(
    topology: list[Component], true: list[Entity], named: list[Entity], random: object
) -> None:
    def shuffled(things: Sequence[Entity]) -> list[Entity]:
        return random.sample(things, len(things))  # type: ignore[attr-defined]

    straight = judge(topology, true, [claim(e) for e in named])
    otherwise = judge(random.sample(topology, len(topology)), shuffled(true), [claim(e) for e in shuffled(named)])  # type: ignore[attr-defined]
    assert otherwise.value == straight.value
    assert otherwise.exact == straight.exact


@given(topologies, full_answers())
def test_a_further_wrong_claim_never_raises_the_score_of_a_full_answer(
    topology: list[Component], case: tuple[list[Entity], list[Entity], Entity]
) -> None:
    true, named, wrong = case
    before = judge(topology, true, [claim(e) for e in named])
    after = judge(topology, true, [claim(e) for e in [*named, wrong]])
    assert after.value <= before.value
    if before.value:
        assert after.value < before.value


@given(topologies, causes, some_entities, st.integers(0, 2))
def test_a_claim_about_nothing_known_never_raises_the_score(
    topology: list[Component], true: list[Entity], named: list[Entity], number: int
) -> None:
    claims = [claim(e) for e in named]
    assert judge(topology, true, [*claims, NOWHERE[number]]).value <= judge(topology, true, claims).value


@given(topologies, partly_wrong_answers())
def test_putting_a_cause_for_a_wrong_claim_never_lowers_the_score(
    topology: list[Component], case: tuple[list[Entity], list[Entity], Entity, Entity]
) -> None:
    true, named, wrong, missed = case
    better = [missed if e == wrong else e for e in named]
    before = judge(topology, true, [claim(e) for e in named])
    assert judge(topology, true, [claim(e) for e in better]).value >= before.value - 1e-12


@given(topologies, short_answers())
def test_finding_one_more_cause_raises_the_score_while_there_is_room(
    topology: list[Component], case: tuple[list[Entity], list[Entity], Entity]
) -> None:
    true, named, missed = case
    before = judge(topology, true, [claim(e) for e in named])
    assert judge(topology, true, [claim(e) for e in [*named, missed]]).value > before.value


@given(topologies, st.sampled_from(ENTITIES), st.sampled_from(ENTITIES), st.sampled_from(ENTITIES))
def test_the_nearer_of_two_guesses_scores_at_least_as_much(
    topology: list[Component], true: Entity, one: Entity, other: Entity
) -> None:
    graph = Topology(Truth(root_causes=[true], chain=[], topology=topology))

    def far(guess: Entity) -> float:
        distance = graph.distance(key_of(true), key_of(guess))
        return math.inf if distance is None else distance

    near, farther = sorted((one, other), key=far)
    scores = [judge(topology, [true], [claim(each)]).value for each in (near, farther)]
    assert scores[0] >= scores[1]


@given(topologies, causes)
def test_naming_everything_scores_no_more_than_a_blind_draw(topology: list[Component], true: list[Entity]) -> None:
    assert judge(topology, true, [claim(e) for e in ENTITIES]).value <= len(true) / len(ENTITIES)
