from __future__ import annotations

import threading

import pytest

from itbc.runner.ordering import in_order, reversed_needs

NEEDS = {"app": ["cluster"], "cluster": [], "telemetry": ["cluster"], "last": ["app", "telemetry", "unknown"]}


def test_needs_come_first() -> None:
    done: list[str] = []
    in_order(NEEDS, done.append)
    assert done[0] == "cluster"
    assert sorted(done[1:3]) == ["app", "telemetry"]
    assert done[3] == "last"


def test_what_doesnt_need_one_another_runs_at_once() -> None:
    both = threading.Barrier(2, timeout=20)

    def work(name: str) -> None:
        if name in {"app", "telemetry"}:
            both.wait()

    in_order(NEEDS, work)


def test_after_a_failure_nothing_is_begun() -> None:
    begun: list[str] = []

    def work(name: str) -> None:
        begun.append(name)
        if name == "app":
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        in_order(NEEDS, work)
    assert "last" not in begun


def test_circles_are_told() -> None:
    with pytest.raises(ValueError, match="need one another: a, b"):
        in_order({"a": ["b"], "b": ["a"]}, lambda _: None)


def test_undoing_goes_the_other_way() -> None:
    assert reversed_needs(NEEDS) == {
        "app": ["last"],
        "cluster": ["app", "telemetry"],
        "telemetry": ["last"],
        "last": [],
    }
