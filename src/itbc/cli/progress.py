"""Shows runs' steps as they happen: a live line with the time that passes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.text import Text

from itbc.contracts.record import Failure
from itbc.runner.observer import Observer

TITLES = {
    "prepare": "have what a run needs",
    "provision": "bring the environment up",
    "baseline": "see it healthy",
    "identity": "give the agent its rights",
    "recording": "record what must stay",
    "inject": "break it, and prove it broken",
    "alerting": "see the alerts fire",
    "ready": "open the agent's workspace",
    "agent": "the agent works",
    "evaluate": "evaluate",
    "destroy": "destroy",
}
"""What a step is called on screen."""

PLAIN_SECONDS = 5.0
"""Without a terminal, notes are at least this far apart: a log isn't for reading along."""

LANE_SECONDS = 15.0
"""Where several runs tell at once, notes of each are at least this far apart."""


class Teller(Observer, Protocol):
    """An observer that also takes lines which are about no step."""

    def say(self, text: str) -> None:
        """A line that stays."""


class Progress:
    """An `Observer` for a console. Use as a context, so that the live line is taken away at the end."""

    def __init__(self, console: Console, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._name = ""
        self._note = ""
        self._began = monotonic()
        self._printed = 0.0
        self._live = Live(self, console=console, refresh_per_second=8, transient=True) if console.is_terminal else None
        self._spinner = Spinner("dots")

    def __enter__(self) -> Self:
        """Begin to show."""
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the live line away."""
        if self._live:
            self._live.stop()

    def __rich__(self) -> Text | Spinner:
        """The live line."""
        with self._lock:
            if not self._name:
                return Text("")
            seconds = self._monotonic() - self._began
            line = f"{TITLES.get(self._name, self._name):<32} {seconds:6.1f} s  {escape(self._note)}"
        width = max(20, self._console.width - 4)
        self._spinner.update(text=line[:width])
        return self._spinner

    def step_began(self, name: str) -> None:
        """A step begins."""
        with self._lock:
            self._name, self._note, self._began = name, "", self._monotonic()
        if not self._live:
            self._console.print(f"  … {TITLES.get(name, name)}", highlight=False)

    def note(self, text: str) -> None:
        """Something happened within the current step."""
        with self._lock:
            if text == self._note:
                return
            self._note = text
            now = self._monotonic()
            quiet = now - self._printed < PLAIN_SECONDS
            if not quiet:
                self._printed = now
            seconds = now - self._began
        if not self._live and not quiet:
            self._console.print(f"      {seconds:6.1f} s  {escape(text)}", highlight=False, soft_wrap=True)

    def step_ended(self, name: str, seconds: float, failure: Failure | None) -> None:
        """A step ended, well or not."""
        with self._lock:
            self._name = ""
        sign = "[red]✗[/red]" if failure else "[green]✓[/green]"
        self._console.print(f"  {sign} {TITLES.get(name, name):<32} {seconds:6.1f} s", highlight=False)

    def say(self, text: str) -> None:
        """A line that stays."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


class Lane:
    """An observer for one of several runs at once: plain lines, each with the run's name in front."""

    def __init__(self, console: Console, name: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._name = name
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._note = ""
        self._printed = self._began = monotonic()

    def step_began(self, name: str) -> None:
        """A step begins."""
        with self._lock:
            self._note = ""
            self._printed = self._began = self._monotonic()
        self.say(f"… {TITLES.get(name, name)}")

    def note(self, text: str) -> None:
        """Something happened within the current step."""
        with self._lock:
            now = self._monotonic()
            if text == self._note or now - self._printed < LANE_SECONDS:
                return
            self._note, self._printed = text, now
            seconds = now - self._began
        self.say(f"{seconds:6.1f} s  {text}")

    def step_ended(self, name: str, seconds: float, failure: Failure | None) -> None:
        """A step ended, well or not."""
        self.say(f"{'✗' if failure else '✓'} {TITLES.get(name, name):<32} {seconds:6.1f} s")

    def say(self, text: str) -> None:
        """A line that stays."""
        self._console.print(f"{self._name}  {text}", highlight=False, markup=False, soft_wrap=True)
