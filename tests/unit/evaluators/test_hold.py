"""Holds: 10 s on the right side of a bound, beginning within 20 s of the agent's end."""

from __future__ import annotations

import math

import pytest
from shop_scene import objective, samples

from itbc.contracts.evidence import Sample
from itbc.evaluators.hold import Hold, holds

GOOD, BAD = 0.0, 0.3


def decide(*stretches: tuple[int, float | None]) -> Hold:
    return holds(samples(*stretches), 1.0, objective())


def test_good_from_the_start_holds_as_soon_as_the_time_is_full() -> None:
    assert decide((11, GOOD)).held
    assert not decide((10, GOOD)).held
    assert not decide((10, GOOD)).decided


def test_a_repair_that_takes_a_while_holds() -> None:
    hold = decide((5, BAD), (11, GOOD))
    assert hold.held
    assert hold.began == 5
    assert hold.reason == "held 10 s from 5 s after the agent's end"


def test_the_last_moment_to_begin_is_the_settling_time() -> None:
    assert decide((20, BAD), (11, GOOD)).held
    late = decide((21, BAD), (11, GOOD))
    assert late.decided
    assert not late.held


def test_nothing_repaired_is_decided_once_the_settling_time_is_over() -> None:
    assert not decide((20, BAD)).decided
    noop = decide((21, BAD))
    assert noop.decided
    assert not noop.held
    assert "never" in noop.reason
    assert "0.3 at 20 s" in noop.reason


def test_a_hold_that_runs_on_past_the_settling_time_is_waited_for() -> None:
    assert not decide((15, BAD), (10, GOOD)).decided
    assert decide((15, BAD), (11, GOOD)).held


def test_undone_before_the_hold_is_over_fails() -> None:
    hold = decide((5, BAD), (10, GOOD), (10, BAD))
    assert hold.decided
    assert not hold.held
    assert hold.longest == 9
    assert hold.reason == "wanted < 0.01 for 10 s, but held only 9 s from 5 s, then 0.3 at 15 s"


def test_a_second_try_within_the_settling_time_holds() -> None:
    assert decide((2, BAD), (5, GOOD), (3, BAD), (11, GOOD)).held


def test_a_flicker_is_no_hold() -> None:
    assert not decide(*[(5, GOOD), (1, BAD)] * 6).held


@pytest.mark.parametrize("silence", [None, math.nan, math.inf, -math.inf])
def test_silence_is_not_health(silence: float | None) -> None:
    assert not decide((40, silence)).held
    broken = decide((5, GOOD), (1, silence), (20, GOOD))
    assert broken.began == 6
    above = objective(comparison=">", bound=0.5)
    assert not holds(samples((40, silence)), 1.0, above).held


def test_silence_in_the_middle_breaks_a_hold() -> None:
    hold = decide((15, BAD), (9, GOOD), (1, None), (20, GOOD))
    assert not hold.held
    assert hold.decided
    assert "no value at 24 s" in hold.reason


def test_a_gap_in_the_series_breaks_a_hold() -> None:
    early = [sample for sample in samples((18, BAD), (20, GOOD)) if sample.at not in {22, 23}]
    hold = holds(early, 1.0, objective())
    assert not hold.held
    assert "no sample between 21 s and 24 s" in hold.reason


def test_samples_that_end_too_early_are_no_hold() -> None:
    hold = decide((5, BAD), (5, GOOD))
    assert not hold.decided
    assert not hold.held
    assert "the samples end there" in hold.reason


def test_no_samples_decide_nothing() -> None:
    hold = holds([], 1.0, objective())
    assert (hold.decided, hold.held) == (False, False)
    assert "there is no sample" in hold.reason


def test_what_was_good_before_the_agent_ended_does_not_count() -> None:
    before = [Sample(at=float(at), value=GOOD) for at in range(-20, 5)]
    after = [Sample(at=float(at), value=BAD) for at in range(5, 30)]
    hold = holds([*before, *after], 1.0, objective())
    assert not hold.held
    assert hold.longest == 4


@pytest.mark.parametrize(
    ("comparison", "value", "held"),
    [("<", 0.01, False), ("<=", 0.01, True), (">", 0.01, False), (">=", 0.01, True), (">", 0.02, True), ("<", 0, True)],
)
def test_every_comparison_with_its_edge(comparison: str, value: float, *, held: bool) -> None:
    assert holds(samples((40, value)), 1.0, objective(comparison=comparison)).held is held


def test_fine_steps_hold_in_spite_of_rounding() -> None:
    fine = samples((1, BAD), (101, GOOD), step=0.1)
    assert holds(fine, 0.1, objective()).held
    assert not holds(fine[:-1], 0.1, objective()).held


def test_a_hold_is_decided_once_and_for_all() -> None:
    early = decide((5, BAD), (11, GOOD))
    late = decide((5, BAD), (11, GOOD), (30, BAD))
    assert early == late
