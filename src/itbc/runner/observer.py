"""What whoever started a run is told while it goes on."""

from __future__ import annotations

from typing import Protocol

from itbc.contracts.record import Failure


class Observer(Protocol):
    """Shows a run's life. Calls come from the thread that runs the life, `note` and `say` from any."""

    def step_began(self, name: str) -> None:
        """A step begins."""

    def note(self, text: str) -> None:
        """Something happened within the current step."""

    def say(self, text: str) -> None:
        """Something that the user must see."""

    def step_ended(self, name: str, seconds: float, failure: Failure | None) -> None:
        """A step ended, well or not."""


class Silent:
    """Shows nothing."""

    def step_began(self, name: str) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    def step_ended(self, name: str, seconds: float, failure: Failure | None) -> None:
        """Nothing."""
