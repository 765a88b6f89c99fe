"""Laws of the comparison of two objects."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from itbc.evaluators.difference import covers, differences

names = st.text("ab/~*", min_size=1, max_size=3)
leaves = st.one_of(st.integers(0, 3), st.booleans(), st.sampled_from(["", "x", "y"]))
named = st.lists(st.builds(lambda name, value: {"name": name, "value": value}, names, leaves), max_size=3)
trees = st.recursive(
    st.one_of(leaves, named),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(names, trees, max_size=4)


@given(objects)
def test_an_object_does_not_differ_from_itself(thing: dict[str, Any]) -> None:
    assert differences(thing, copy.deepcopy(thing)) == []


@given(objects, objects)
def test_is_symmetric_and_sorted(before: dict[str, Any], after: dict[str, Any]) -> None:
    there = differences(before, after)
    back = differences(after, before)
    assert [c.pointer for c in there] == [c.pointer for c in back] == sorted(c.pointer for c in there)
    assert [(c.before, c.after) for c in there] == [(c.after, c.before) for c in back]


@given(objects, objects)
def test_an_exempt_place_hides_its_changes_and_no_others(before: dict[str, Any], after: dict[str, Any]) -> None:
    for change in differences(before, after):
        left = differences(before, after, [change.pointer])
        assert change not in left
        assert all(covers(change.pointer, c.pointer) for c in differences(before, after) if c not in left)
    assert differences(before, after, [""]) == []


@given(objects, names, leaves)
def test_a_new_value_at_the_top_is_found(thing: dict[str, Any], name: str, value: object) -> None:
    escaped = name.replace("~", "~0").replace("/", "~1")
    without = {key: held for key, held in thing.items() if key != name}
    found = differences(without, {**without, name: value})
    assert [change.pointer for change in found] == [f"/{escaped}"]


@given(objects, st.randoms(use_true_random=False))
def test_the_order_of_named_items_and_fields_does_not_matter(thing: dict[str, Any], random: Any) -> None:
    def mixed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: mixed(value[key]) for key in random.sample(list(value), len(value))}
        if isinstance(value, list) and value:
            held = [mixed(item) for item in value]
            unique = all(isinstance(i, dict) and "name" in i and isinstance(i["name"], str) for i in value)
            if unique and len({i["name"] for i in value}) == len(value):
                return random.sample(held, len(held))
            return held
        return value

    assert differences(thing, mixed(thing)) == []
