from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itbc.dsl.promql import problem
from itbc.dsl.values import Wrong, duration, quantity, show_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("45m", 2700),
        ("1h30m", 5400),
        ("500ms", 0.5),
        ("90s", 90),
        ("2d", 172800),
        ("1.5h", 5400),
        ("0s", 0),
        ("1d1h1m1s1ms", 90061.001),
    ],
)
def test_durations(text: str, seconds: float):
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "message", "better"),
    [
        ("45", "`45` has no unit", "45s"),
        ("45min", "`min` isn't a unit of time", "45m"),
        ("3 minutes", "a duration is written without spaces", "3m"),
        ("1M", "`M` isn't a unit of time", "1m"),
        ("8Gi", "`Gi` isn't a unit of time; it is one of size", ""),
        ("30m1h", "`h` can't come here", ""),
        ("1h1h", "`h` can't come here", ""),
        ("-5s", "a duration can't be negative", ""),
        ("", "this isn't a duration", ""),
        ("30 s", "a duration is written without spaces", "30s"),
        ("1h 30 min", "a duration is written without spaces", "1h30m"),
        ("30 sec", "a duration is written without spaces", "30s"),
        ("  ", "a duration is written without spaces", ""),
        ("soon and well", "a duration is written without spaces", ""),
        ("soon", "`soon` isn't a number with a unit", ""),
        ("1h30", "`30` has no unit", ""),
        ("9" * 50 + "s", "this isn't a duration", ""),
    ],
)
def test_what_is_wrong_with_a_duration(text: str, message: str, better: str):
    found = duration(text)
    assert isinstance(found, Wrong)
    assert (found.message, found.better) == (message, better)
    assert 0 <= found.start <= found.end <= len(text)


@given(st.integers(0, 10**9))
def test_a_shown_duration_is_the_same_duration(milliseconds: int):
    assert duration(show_duration(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)


@pytest.mark.parametrize(
    ("text", "of", "value"),
    [
        ("8Gi", "memory", 8 * 2**30),
        ("512Mi", "memory", 512 * 2**20),
        ("1G", "memory", 1e9),
        ("128974848", "memory", 128974848),
        ("129e6", "memory", 129e6),
        ("1.5Ki", "memory", 1536),
        ("500m", "cpu", 0.5),
        ("2", "cpu", 2),
        ("0.1", "cpu", 0.1),
    ],
)
def test_quantities(text: str, of: str, value: float):
    assert quantity(text, of) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "of", "message", "better"),
    [
        ("8GB", "memory", "`GB` isn't a unit of size", "8G"),
        ("8GiB", "memory", "`GiB` isn't a unit of size", "8Gi"),
        ("8gi", "memory", "`gi` isn't a unit of size", "8Gi"),
        ("8h", "memory", "`h` isn't a unit of size; it is one of time", ""),
        ("500m", "memory", "`m` is a thousandth of a byte here", "500Mi"),
        ("1Gi", "cpu", "`Gi` isn't a unit of CPU", ""),
        ("1s", "cpu", "`s` isn't a unit of CPU; it is one of time", ""),
        ("-1", "cpu", "a quantity can't be negative", ""),
        ("much", "memory", "this isn't a quantity", ""),
        ("", "memory", "this isn't a quantity", ""),
    ],
)
def test_what_is_wrong_with_a_quantity(text: str, of: str, message: str, better: str):
    found = quantity(text, of)
    assert isinstance(found, Wrong)
    assert (found.message, found.better) == (message, better)


@given(st.text(max_size=20))
def test_any_text_is_a_measure_or_wrong(text: str):
    for found in (duration(text), quantity(text, "memory"), quantity(text, "cpu"), problem(text)):
        assert found is None or isinstance(found, float | Wrong)


@pytest.mark.parametrize(
    "query",
    ["up", "sum(rate(x{a='b',c=~\"d]\"}[5m])) > 0.1", "a # )))\n", "x{a='it\\'s'}", "x{a=`raw \\`}", "(a and b) or c"],
)
def test_complete_queries(query: str):
    assert problem(query) is None


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "the query is empty"),
        (" \n# only a comment", "the query is empty"),
        ("sum(x", "the `(` at character 4 is never closed"),
        ("sum(x]", "the `]` at character 6 closes nothing: `(` is open there"),
        ("x)", "the `)` at character 2 closes nothing: nothing is open there"),
        ("x{a='b}", "a ' at character 5 is never closed"),
        ("x[5m", "the `[` at character 2 is never closed"),
    ],
)
def test_incomplete_queries(query: str, message: str):
    found = problem(query)
    assert found is not None
    assert found.message == message
