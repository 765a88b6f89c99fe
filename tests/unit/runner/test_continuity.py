from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from itbc.providers.services import ClusterPlace, ProgramsUnknown
from itbc.runner import session
from itbc.runner.failures import StepFailed
from itbc.runner.session import Workshop
from itbc.runner.steps.access import Access
from itbc.runner.steps.continuity import all_running, lapses, unbroken
from itbc.runner.surroundings import Surroundings

from .conftest import toy_artefacts

SHOP = Access(cluster="shop", kubeconfig="/k", prometheus="", alertmanager="", namespaces=[])


class Node:
    """A target that shows one state after the other, the last one for good."""

    def __init__(self, *states: Mapping[str, str] | None) -> None:
        self.states = list(states)
        self.asked: list[ClusterPlace] = []

    def running(self, place: ClusterPlace) -> Mapping[str, str]:
        self.asked.append(place)
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if state is None:
            raise ProgramsUnknown("the cluster's supervisor can't be reached")
        return state


def around(workshop: Workshop, short: Path, node: Node) -> Surroundings:
    tools = replace(workshop.tools, running={"embedded": node.running})
    artefacts = toy_artefacts(short / "a", short)
    with session.new_run(replace(workshop, tools=tools), artefacts, "noop", seed=0) as life:
        return life.around


def test_who_is_let_in_waits_for_what_is_just_starting_again(workshop: Workshop, short: Path) -> None:
    node = Node({"etcd": "process 1", "containerd": ""}, {"etcd": "process 1", "containerd": "process 7"})
    where = around(workshop, short, node)
    assert all_running([SHOP], where) == {"shop": {"etcd": "process 1", "containerd": "process 7"}}
    assert node.asked[0] == ClusterPlace("shop", where.run.clusters, Path("/k"))


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"etcd": "process 2"}, "etcd of cluster shop ended and was started again"),
        ({"etcd": ""}, "etcd of cluster shop ended and doesn't run"),
        ({}, "etcd of cluster shop ended and doesn't run"),
    ],
)
def test_what_ended_since_is_named(workshop: Workshop, short: Path, now: Mapping[str, str], said: str) -> None:
    where = around(workshop, short, Node(now))
    with pytest.raises(StepFailed, match=f"had an outage while the run went on: {said}$") as wrong:
        unbroken({"shop": {"etcd": "process 1"}}, [SHOP], where)
    assert wrong.value.fault == "environment"
    assert wrong.value.remedy.startswith("run again: this run says nothing about the agent")


def test_what_came_later_and_what_went_on_is_no_outage() -> None:
    before = {"shop": {"etcd": "process 1"}, "depot": {}}
    assert lapses(before, {"shop": {"etcd": "process 1", "new": "process 9"}, "depot": {"new": ""}}) == []
    assert lapses({}, {}) == []


def test_a_cluster_that_can_not_be_looked_at_is_the_environments_failure(workshop: Workshop, short: Path) -> None:
    where = around(workshop, short, Node(None))
    with pytest.raises(StepFailed, match="supervisor can't be reached") as wrong:
        unbroken({"shop": {"etcd": "process 1"}}, [SHOP], where)
    assert wrong.value.fault == "environment"
