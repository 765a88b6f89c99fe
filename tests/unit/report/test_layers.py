from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from itbc.results.report.layers import Bend, lay_out

NAMES = st.sampled_from("abcdefgh")
GRAPHS = st.dictionaries(NAMES, st.lists(NAMES, max_size=5), max_size=8)


def test_callers_are_above_what_they_call() -> None:
    calls = {
        "frontend": ["cart", "catalogue", "checkout"],
        "catalogue": ["store"],
        "cart": [],
        "checkout": ["orders", "payment"],
        "payment": [],
        "orders": ["store"],
        "store": [],
        "load": ["frontend"],
    }
    drawing = lay_out(calls)
    names = [{item for item in row if isinstance(item, str)} for row in drawing.layers]
    assert names == [
        {"load"},
        {"frontend"},
        {"cart", "catalogue", "checkout"},
        {"orders", "payment"},
        {"store"},
    ]
    assert drawing.routes["catalogue", "store"] == ("catalogue", Bend(("catalogue", "store"), 3), "store")


def test_lines_that_need_not_cross_do_not() -> None:
    drawing = lay_out({"a": ["y"], "b": ["x"], "x": [], "y": []})
    upper, lower = drawing.layers
    assert [lower.index({"a": "y", "b": "x"}[str(item)]) for item in upper] == [0, 1]


def test_a_circle_is_drawn_too() -> None:
    drawing = lay_out({"a": ["b"], "b": ["c"], "c": ["a"]})
    assert [list(row) for row in drawing.layers if len(row) == 1] == [["a"], ["c"]]
    back = drawing.routes["c", "a"]
    assert (back[0], back[-1], len(back)) == ("c", "a", 3)


def test_unknown_callees_and_calls_to_oneself_are_left_out() -> None:
    drawing = lay_out({"a": ["a", "nobody"]})
    assert (drawing.layers, dict(drawing.routes)) == ((("a",),), {})
    assert lay_out({}).layers == ()


@given(GRAPHS)
def test_every_node_is_drawn_once_and_every_line_goes_from_layer_to_layer(calls: dict[str, list[str]]) -> None:
    drawing = lay_out(calls)
    layer = {item: number for number, row in enumerate(drawing.layers) for item in row}
    assert sum(len(row) for row in drawing.layers) == len(layer)
    assert {item for item in layer if isinstance(item, str)} == set(calls)
    wanted = {(a, b) for a in calls for b in calls[a] if b in calls and a != b}
    assert set(drawing.routes) == wanted
    for (start, end), route in drawing.routes.items():
        assert (route[0], route[-1]) == (start, end)
        ways = [layer[after] - layer[before] for before, after in pairwise(route)]
        assert set(ways) in ({1}, {-1})
    assert lay_out(calls) == drawing
