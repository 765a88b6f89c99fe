"""Waiting for a condition, with a deadline and an ear for the user's wish to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from itbc.runner.failures import Interrupted

T = TypeVar("T")


class TooLate(Exception):  # noqa: N818 - the name is the fact
    """The deadline passed before the condition was met."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The clock that steps wait by, and the event that is set when the user wants the run to stop."""

    stop: threading.Event = field(default_factory=threading.Event)
    monotonic: Callable[[], float] = time.monotonic

    def until(self, probe: Callable[[], T | None], seconds: float, every: float = 0.25) -> T:
        """Ask `probe` again and again until it gives something.

        It is asked at least once. Raises TooLate when `seconds` have passed
        and Interrupted as soon as the user wants to stop.
        """
        deadline = self.monotonic() + seconds
        while True:
            found = probe()
            if found is not None:
                return found
            left = deadline - self.monotonic()
            if left <= 0:
                raise TooLate
            self.pause(min(every, left))

    def pause(self, seconds: float) -> None:
        """Let time pass. Raises Interrupted as soon as the user wants to stop."""
        if self.stop.wait(seconds):
            raise Interrupted

    def check(self) -> None:
        """Raise Interrupted when the user wants to stop."""
        if self.stop.is_set():
            raise Interrupted
