from __future__ import annotations

import os
import signal
import threading

import pytest

from itbc.runner.failures import Interrupted
from itbc.runner.interruption import Interruption
from itbc.runner.waiting import Patience, TooLate


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 1.0
        return self.time


def test_it_asks_at_least_once_and_gives_what_it_was_given() -> None:
    assert Patience().until(lambda: "yes", 0) == "yes"
    with pytest.raises(TooLate):
        Patience().until(lambda: None, 0)


def test_it_gives_up_at_the_deadline() -> None:
    asked = 0

    def probe() -> None:
        nonlocal asked
        asked += 1

    with pytest.raises(TooLate):
        Patience(monotonic=Clock()).until(probe, 5, every=0.001)
    assert asked == 5


def test_a_wish_to_stop_comes_first() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        Patience(stop).until(lambda: None, 100)
    with pytest.raises(Interrupted):
        Patience(stop).check()


def test_the_first_signal_stops_and_the_second_gives_up() -> None:
    said: list[str] = []
    interruption = Interruption(said.append)
    before = signal.getsignal(signal.SIGINT)
    with interruption.listen():
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.stop.is_set()
        assert not interruption.abandon.is_set()
        os.kill(os.getpid(), signal.SIGTERM)
        assert interruption.abandon.is_set()
    assert [text.split(":")[0] for text in said] == ["stopping", "giving up"]
    assert signal.getsignal(signal.SIGINT) is before
