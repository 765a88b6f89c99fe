from __future__ import annotations

from itbc.contracts.environment import Stack
from itbc.runner.steps.destroying import order


def stack(name: str, *needs: str, lives_in: str = "") -> Stack:
    return Stack(id=name, folder=name, needs=list(needs), lives_in=lives_in)


def test_what_is_needed_goes_after_what_needs_it() -> None:
    stacks = [stack("cluster"), stack("telemetry", "cluster"), stack("app", "cluster", "telemetry")]
    assert order(stacks) == {"cluster": ["telemetry", "app"], "telemetry": ["app"], "app": []}


def test_what_vanishes_with_another_waits_for_that_to_go() -> None:
    stacks = [
        stack("cluster"),
        stack("telemetry", "cluster", lives_in="cluster"),
        stack("app", "telemetry", lives_in="cluster"),
        stack("dns", "cluster"),
    ]
    # A record of the cluster's that lies elsewhere still goes before the cluster.
    assert order(stacks) == {"cluster": ["dns"], "telemetry": ["cluster"], "app": ["cluster"], "dns": []}


def test_what_vanishes_with_something_that_never_was_goes_by_itself() -> None:
    stacks = [stack("telemetry", "cluster", lives_in="cluster"), stack("app", "telemetry", lives_in="cluster")]
    assert order(stacks) == {"telemetry": ["app"], "app": []}
