from __future__ import annotations

import pytest

from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.waiting import wait_for


class Clock:
    """A clock that only pauses move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


def test_what_is_found_comes_back() -> None:
    answers = iter([None, False, "here"])
    clock = Clock()
    assert wait_for("it", lambda: next(answers), 10, clock=clock, pause=clock.pause) == "here"
    assert clock.now == pytest.approx(0.1)


def test_time_runs_out() -> None:
    clock = Clock()
    with pytest.raises(EmbeddedError, match="the moon: not so within 3 s"):
        wait_for("the moon", lambda: None, 3, clock=clock, pause=clock.pause)
    assert clock.now == pytest.approx(3, abs=0.1)


def test_it_is_looked_at_least_once() -> None:
    assert wait_for("it", lambda: 0.5, 0) == pytest.approx(0.5)
