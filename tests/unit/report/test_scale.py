from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itbc.results.report.scale import TimeScale, clock, duration, idle_stretches, number, value_scale


def test_round_times_have_ticks() -> None:
    scale = TimeScale(begin=105.0, end=165.0, origin=100.0)
    assert [(tick.at, tick.label) for tick in scale.ticks(6)] == [
        (8.333, "0:10"),
        (25.0, "0:20"),
        (41.667, "0:30"),
        (58.333, "0:40"),
        (75.0, "0:50"),
        (91.667, "1:00"),
    ]
    assert (scale.at(0), scale.at(135), scale.at(1e9)) == (0.0, 50.0, 100.0)


def test_a_night_in_which_nothing_happened_takes_little_room() -> None:
    spans = [(0.0, 60.0), (60.0, 100.0), (40_100.0, 40_150.0)]
    idle = idle_stretches(spans)
    assert idle == [(100.0, 40_100.0)]
    scale = TimeScale(0.0, 40_150.0, 0.0, idle)
    assert scale.drawn_seconds == pytest.approx(160.0)
    assert scale.at(100.0) == pytest.approx(62.5)
    assert scale.at(40_100.0) == pytest.approx(68.75)
    labels = [tick.label for tick in scale.ticks()]
    assert labels[:2] == ["0:00", "0:30"]
    assert len(labels) < 10
    assert idle_stretches([(0.0, 500.0), (10.0, 20.0), (501.0, 510.0)]) == []


@given(st.floats(0, 1e6), st.floats(0.001, 1e7))
def test_ticks_are_few_and_on_the_drawing(begin: float, length: float) -> None:
    ticks = TimeScale(begin, begin + length, begin).ticks()
    assert len(ticks) <= 8
    assert all(0 <= tick.at <= 100 for tick in ticks)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_all_values_are_on_the_drawing_and_higher_ones_higher(values: list[float]) -> None:
    scale = value_scale(values, 150.0)
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places, reverse=True)
    assert all(0 <= place <= 150 and math.isfinite(place) for place in places)
    assert 1 <= len(scale.ticks()) <= 8


def test_a_flat_line_at_zero_has_a_scale() -> None:
    scale = value_scale([0.0, 0.0], 100.0)
    assert 0 < scale.at(0.0) < 100


@pytest.mark.parametrize(
    ("seconds", "as_clock", "in_words"),
    [
        (0, "0:00", "0 ms"),
        (0.04, "0:00", "40 ms"),
        (9.94, "0:10", "9.9 s"),
        (59.6, "1:00", "1 min"),
        (125, "2:05", "2 min 5 s"),
        (3723, "1:02:03", "1 h 2 min"),
        (-5, "-0:05", None),
        (-0.2, "0:00", None),
    ],
)
def test_times_in_words(seconds: float, as_clock: str, in_words: str | None) -> None:
    assert clock(seconds) == as_clock
    if in_words is not None:
        assert duration(seconds) == in_words


def test_numbers_have_three_digits_that_count() -> None:
    assert [number(each) for each in (0.0, -0.0, 0.012345, 1234567.0, 20.0)] == ["0", "0", "0.0123", "1.23e+06", "20"]
