"""Plays as YAML: what a user wrote stays text, whatever Ansible would make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml

from itbc.compiler.emit.plays import render_project
from itbc.compiler.plan import Plan


class Loader(yaml.SafeLoader):
    """Reads plays; keeps which texts are marked as unsafe."""


class Unsafe(str):
    __slots__ = ()


Loader.add_constructor("!unsafe", lambda loader, node: Unsafe(loader.construct_scalar(node)))


def play(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    (loaded,) = yaml.load(files[f"project/{name}.yml"], Loader=Loader)  # noqa: S506 - a SafeLoader with one more tag
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("value", ["{{ lookup('pipe', 'id') }}", "{% if x %}", "{# x #}", "a {{ b"])
def test_templates_of_the_user_are_marked_as_text(plan: Plan, value: str):
    (fault,) = plan.faults
    (change,) = fault.changes
    patch = [*change.patch[:-1], {**change.patch[-1], "value": value}]
    files = render_project([replace(fault, changes=(replace(change, patch=patch),))])
    written = play(files, "wrong-address-inject")["vars"]["changes"][0]["patch"][-1]["value"]
    assert written == value
    assert type(written) is Unsafe


def test_ordinary_texts_are_not_marked(plan: Plan):
    files = render_project(plan.faults)
    written = play(files, "wrong-address-inject")["vars"]["changes"][0]["patch"][-1]["value"]
    assert (type(written), written) == (str, "payment:9999")


def test_each_play_has_what_its_tasks_need_and_no_more(plan: Plan):
    files = render_project(plan.faults)
    common = {"fault", "fault_kind", "cluster", "within_seconds"}
    needed = {"inject": {"changes"}, "prove": {"proof", "steady_seconds"}, "undo": {"recovery"}}
    for phase, own in needed.items():
        written = play(files, f"wrong-address-{phase}")
        assert set(written["vars"]) == common | own
        assert written["gather_facts"] is False
        (task,) = written["tasks"]
        assert task["ansible.builtin.import_role"] == {"name": "kubernetes_change", "tasks_from": phase}
