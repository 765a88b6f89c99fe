"""Whole scores: the right agent passes, and each kind of wrong one fails."""

from __future__ import annotations

import msgspec
import pytest
from shop_scene import BASELINE, agent, cause, changed, deployment, evaluation, evidence, replaced, samples

from itbc.contracts.evidence import Evidence
from itbc.contracts.score import Score
from itbc.contracts.shape import ContractError, from_json, to_json
from itbc.evaluators import score


def test_a_repair_with_the_right_diagnosis_scores_everything() -> None:
    result = score(evaluation(), evidence(cause("checkout"), after=replaced(deployment("checkout", "http://new"))))
    assert (result.passed, result.diagnosed, result.diagnosis, result.mitigation) == (True, True, 1, 1)
    assert [(v.kind, v.passed) for v in result.verdicts] == [
        ("root-cause", True),
        ("objective", True),
        ("safeguard", True),
    ]


def test_a_noop_fails_by_the_objectives_alone() -> None:
    result = score(
        evaluation(), evidence(after=replaced(deployment("checkout", "payment:9999")), seen=samples((40, 0.3)))
    )
    assert (result.passed, result.diagnosed, result.diagnosis, result.mitigation) == (False, False, 0, 0)
    assert [v.kind for v in result.verdicts if v.passed] == ["safeguard"]


def test_deleting_and_making_everything_again_fails_though_it_works() -> None:
    again = [changed(state, lambda _: None, uid=f"{state.uid}-2") for state in BASELINE]
    result = score(evaluation(), evidence(cause("checkout"), after=again))
    assert not result.passed
    assert result.mitigation == 0
    assert [v.kind for v in result.verdicts if not v.passed] == ["safeguard"]


def test_silencing_the_data_fails() -> None:
    result = score(evaluation(), evidence(cause("checkout"), seen=samples((2, 0.3), (40, None))))
    assert not result.passed


def test_repairing_a_neighbour_instead_fails_twice() -> None:
    neighbour = replaced(deployment("payment", "http://payment:8081"))
    result = score(evaluation(), evidence(cause("payment"), after=neighbour, seen=samples((40, 0.3))))
    assert not result.passed
    assert [v.name for v in result.verdicts if not v.passed and v.kind != "root-cause"] == [
        "orders-succeed",
        "nothing-else-changed",
    ]


def test_the_score_of_another_scenario_is_refused() -> None:
    other = msgspec.structs.replace(evidence(), scenario="other")
    with pytest.raises(ContractError, match=r"scenario 'other'"):
        score(evaluation(), other)


def test_a_score_is_the_same_from_files() -> None:
    seen = evidence(cause("payment"))
    again = from_json(to_json(seen), Evidence)
    assert to_json(score(evaluation(), again)) == to_json(score(evaluation(), seen))
    assert from_json(to_json(score(evaluation(), seen)), Score) == score(evaluation(), seen)


NOTHING = msgspec.structs.replace(
    evaluation(), truth=msgspec.structs.replace(evaluation().truth, root_causes=[], chain=["load", "frontend"])
)


def _healthy(score_: Score) -> tuple[bool, bool, float, str]:
    (verdict,) = (v for v in score_.verdicts if v.kind == "healthy")
    assert verdict.passed == score_.diagnosed
    return score_.passed, score_.diagnosed, score_.mitigation, verdict.reason


def test_where_nothing_is_broken_it_takes_an_answer_to_pass() -> None:
    assert _healthy(score(NOTHING, evidence())) == (True, True, 1, "nothing was blamed")
    silent = msgspec.structs.replace(evidence(), agent=agent(answered=False))
    assert _healthy(score(NOTHING, silent)) == (False, False, 1, "no answer was handed in")


def test_where_nothing_is_broken_blame_fails() -> None:
    result = score(NOTHING, evidence(cause("checkout")))
    assert _healthy(result) == (False, False, 1, "something was blamed")
    assert [v.passed for v in result.verdicts if v.kind == "root-cause"] == [False]


def test_where_nothing_is_broken_a_change_fails_though_the_answer_is_right() -> None:
    more = replaced(deployment("payment", "http://payment:8081"))
    assert _healthy(score(NOTHING, evidence(after=more))) == (False, True, 0, "nothing was blamed")
