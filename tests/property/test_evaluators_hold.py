"""Laws of the hold: what later samples, better values and other runs of the same function may change."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from itbc.contracts.evaluation import Objective
from itbc.contracts.evidence import Sample
from itbc.contracts.shape import Origin
from itbc.evaluators.hold import Hold, holds

ORIGIN = Origin(file="x.itb", line=1, column=1)

values = st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.5, None]), max_size=30)
holding = st.integers(0, 8)
settling = st.integers(0, 10)


def judge(values: Sequence[float | None], hold: int, settle: int) -> Hold:
    objective = Objective(
        name="o",
        cluster="k",
        query="q",
        comparison="<",
        bound=0.1,
        hold_seconds=hold,
        settle_seconds=settle,
        origin=ORIGIN,
    )
    return holds([Sample(at=float(at), value=value) for at, value in enumerate(values)], 1.0, objective)


@given(values, holding, settling)
def test_what_is_decided_stays_so_whatever_comes_later(seen: list[float | None], hold: int, settle: int) -> None:
    end = judge(seen, hold, settle)
    for count in range(len(seen)):
        early = judge(seen[:count], hold, settle)
        if early.decided:
            assert early.held == end.held
            assert early.began == end.began


@given(values, holding, settling)
def test_agrees_with_the_definition(seen: list[float | None], hold: int, settle: int) -> None:
    good = [value == 0.0 for value in seen]
    windows = [good[begin : begin + hold + 1] for begin in range(min(settle + 1, len(good)))]
    assert judge(seen, hold, settle).held == any(len(w) == hold + 1 and all(w) for w in windows)


@given(holding, settling, st.lists(st.sampled_from([0.0, 0.5, None]), min_size=20, max_size=20))
def test_is_decided_at_the_latest_when_settling_and_hold_are_over(
    hold: int, settle: int, seen: list[float | None]
) -> None:
    assert judge(seen[: settle + hold + 1], hold, settle).decided or settle + hold + 1 > len(seen)


@given(values, holding, settling, st.integers(0, 29))
def test_a_better_sample_never_undoes_a_hold(seen: list[float | None], hold: int, settle: int, place: int) -> None:
    better = [0.0 if at == place else value for at, value in enumerate(seen)]
    assert judge(better, hold, settle).held >= judge(seen, hold, settle).held


@given(values, holding, settling)
def test_a_longer_hold_is_never_easier_and_a_longer_settling_time_never_harder(
    seen: list[float | None], hold: int, settle: int
) -> None:
    held = judge(seen, hold, settle).held
    assert judge(seen, hold + 1, settle).held <= held
    assert judge(seen, hold, settle + 1).held >= held
