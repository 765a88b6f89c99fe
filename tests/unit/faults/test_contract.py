"""What every fault kind has to keep, shown on its own example."""

from __future__ import annotations

import copy

import jmespath
import jsonpatch
import pytest
from fault_scene import WORKLOAD, broken, pod, proven

from itbc.dsl.catalogue import FaultKind, FaultRequest
from itbc.evaluators.difference import covers, differences
from itbc.providers.faults import catalogue

FAULTS = list(catalogue().faults.values())
EACH = pytest.mark.parametrize("kind", FAULTS, ids=[kind.kind for kind in FAULTS])
PATCHING = pytest.mark.parametrize(
    "kind",
    [kind for kind in FAULTS if all(change.created is None for change in kind.changes(kind.example))],
    ids=lambda kind: kind.kind,
)


@EACH
def test_its_example_is_right(kind: FaultKind):
    assert list(kind.problems(kind.example)) == []
    assert kind.example.target_kind in kind.targets
    known = {parameter.name for parameter in kind.parameters}
    needed = {parameter.name for parameter in kind.parameters if parameter.required}
    assert needed <= set(kind.example.parameters) <= known


@PATCHING
def test_it_changes_what_it_touches_and_nothing_else(kind: FaultKind):
    after = broken(kind, kind.example)
    changes = differences(kind.example.manifest, after)
    touches = kind.touches(kind.example)
    assert changes
    for change in changes:
        assert any(covers(touch.pointer, change.pointer) for touch in touches), change.pointer
    for touch in touches:
        assert touch.pointer
        assert (touch.kind, touch.name) == (kind.example.target_kind, kind.example.target_name)
        assert any(covers(touch.pointer, change.pointer) for change in changes), touch.pointer


@PATCHING
def test_the_declared_object_itself_stays_as_it_is(kind: FaultKind):
    before = copy.deepcopy(kind.example.manifest)
    broken(kind, kind.example)
    assert kind.example.manifest == before


@PATCHING
def test_another_object_than_the_declared_one_is_refused(kind: FaultKind):
    (change,) = kind.changes(kind.example)
    live = copy.deepcopy(dict(kind.example.manifest))
    if live["kind"] == "Service":
        live["spec"] = {"selector": {"other": "x"}, "ports": [{"name": "other", "port": 1}]}
    else:
        live["spec"]["template"]["spec"]["containers"].insert(0, {"name": "proxy"})
        live["spec"]["replicas"] += 1
    with pytest.raises(jsonpatch.JsonPatchException):
        jsonpatch.apply_patch(live, list(change.patch))


@EACH
def test_its_conditions_can_be_read_and_are_said_in_words(kind: FaultKind):
    effect = kind.effect(kind.example)
    assert effect.proof
    assert effect.recovery
    assert effect.within_seconds > 0
    for condition in (*effect.proof, *effect.recovery):
        jmespath.compile(condition.expression)
        assert condition.what
        assert condition.name or condition.labels


@PATCHING
def test_what_is_healthy_proves_nothing(kind: FaultKind):
    effect = kind.effect(kind.example)
    healthy = [pod(WORKLOAD)]
    if kind.example.target_kind == "Service":
        healthy = [{"endpoints": [{"conditions": {"ready": True}}], "ports": [{"name": "http", "port": 8080}]}]
    assert not proven(effect, healthy)
    assert not proven(effect, [])


@EACH
def test_a_target_of_another_shape_is_a_problem_and_no_traceback(kind: FaultKind):
    example = kind.example
    for spec in (
        None,
        {},
        {"template": None, "selector": None, "ports": None},
        {"template": {"spec": {"containers": 1}}},
    ):
        manifest = {**example.manifest, "spec": spec}
        asked = FaultRequest("shop", "shop", example.target_kind, example.target_name, manifest, example.parameters)
        assert kind.problems(asked)
