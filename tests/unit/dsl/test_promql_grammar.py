from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itbc.dsl.promql import problem
from itbc.dsl.promql_grammar import _WORD, MOST_WORDS, viable

SCENARIOS = Path(__file__).parents[3] / "scenarios"
WRITTEN = sorted(
    {
        text.replace('\\"', '"')
        for path in SCENARIOS.rglob("*.itb")
        for text in re.findall(r'(?m)^\s*(?:query|expression)\s*= "(.*)"$', path.read_text())
    }
)
MORE = [
    "sum without (a, b) (x)",
    "sum(x) by (a)",
    "topk by (a) (3, x)",
    "x * on (a, b) group_left (c) y",
    "x / ignoring (a) group_right y",
    "x > bool 1",
    "rate(x[5m] offset 1h) unless on () -y",
    "max_over_time(rate(x[1m])[10m:10s])",
    "x @ end() + x @ 1609746000",
    'label_replace(x, "a", "$1", "b", "(.*)")',
    "count_values('a', x) # and so on",
    "{__name__=~'a|b', c!='', d!~'e'} ^ 2 % 3",
    "quantile(0.9, x) or vector(0)",
    "(1 + 2) * -3 == bool 4",
    "x{a=~`\\d+`, b='offset 1e30'} > Inf",
    "x > 1e+30 # it's `so",
]


def test_there_is_something_to_try() -> None:
    assert len(WRITTEN) > 10


@pytest.mark.parametrize("query", [*WRITTEN, *MORE])
def test_what_prometheus_takes_is_fine_and_so_is_each_of_its_beginnings(query: str) -> None:
    assert problem(query) is None
    words = [found.span() for found in _WORD.finditer(query) if not found["comment"]]
    assert [query[words[count - 1][0] :] for count in range(1, len(words)) if not viable(query, words[:count])] == []


@pytest.mark.parametrize(
    ("query", "part", "message"),
    [
        ("rate(x)", "rate", "expected type matrix in call to function 'rate', got vector"),
        ("rate(x[5m]) + rate(y)", "rate(x[5m]) + rate(y)", "expected type matrix in call to function 'rate'"),
        ("1 + nosuch(x)", "nosuch", "unknown function with name 'nosuch'"),
        ("clamp(x, 1)", "clamp", "expected 3 argument(s) in call to 'clamp', got 2"),
        ("sum(rate(y[1m])) by service", "service", "`service` can't stand here"),
        ("sum by (x) rate(a[1m])", "rate", "`rate` can't stand here"),
        ("x{a='b' c='d'}", "c", "`c` can't stand here"),
        ("x{a='b',,}", ",", "`,` can't stand here"),
        ("x{a=}", "}", "`}` can't stand here"),
        ("topk(3 x)", "x", "`x` can't stand here"),
        ("x > > 1", ">", "`>` can't stand here"),
        ("x > ", ">", "something is missing after `>`"),
        ("x offset y", "y", "`y` can't stand here"),
        ("x $ 1", "$", "unexpected character: '$'"),
        ("1 > 2", "1 > 2", "comparisons between scalars must use BOOL modifier"),
        ("x[5m]", "x[5m]", "this is a range of samples"),
        ("(x[5m:1m])", "(x[5m:1m])", "this is a range of samples"),
        ("'x'", "'x'", "this is a text"),
        ("x offset -NaN", "NaN", "no duration is that long"),
        ("x offset inf", "inf", "no duration is that long"),
        ("rate(x[1e30])", "1e30", "no duration is that long"),
        ("x offset 1e+30", "1e+30", "no duration is that long"),
        (f"x[0x{'f' * 400}]", f"0x{'f' * 400}", "no duration is that long"),
    ],
)
def test_what_prometheus_would_refuse_is_named_where_it_is(query: str, part: str, message: str) -> None:
    wrong = problem(query)
    assert wrong is not None
    assert query[wrong.start : wrong.end] == part
    assert message in wrong.message
    assert wrong.help


def test_the_place_is_the_last_of_two_like_words() -> None:
    wrong = problem("a > 1 and b > > 1")
    assert wrong is not None
    assert wrong.start == len("a > 1 and b > ")


def test_a_very_long_expression_is_left_to_prometheus() -> None:
    deep = "(" * 20_000 + "x" + ")" * 20_000
    assert problem(deep) is None
    assert problem(" + ".join(["x"] * (MOST_WORDS // 2)) + " y y") is None


@given(st.text(alphabet="ax5m[](){}\"'`=~!<>+-*/,.:@ #\\\n", max_size=30))
def test_any_text_is_read_or_refused_at_a_part_of_it(query: str) -> None:
    wrong = problem(query)
    assert wrong is None or 0 <= wrong.start <= wrong.end <= len(query)
