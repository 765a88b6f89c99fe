"""What a Ctrl-C means: the first stops the work and destroys, the second gives up and says what remains."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from itbc.runner.waiting import Patience

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Interruption:
    """The user's wishes: `stop` after the first signal, `abandon` after the second."""

    tell: Callable[[str], None]
    stop: threading.Event = field(default_factory=threading.Event)
    abandon: threading.Event = field(default_factory=threading.Event)

    def patience(self) -> Patience:
        """Waits until the first wish."""
        return Patience(self.stop)

    def last_patience(self) -> Patience:
        """Waits until the second wish."""
        return Patience(self.abandon)

    @contextmanager
    def listen(self) -> Generator[None]:
        """Take the signals for the duration of the block. Works in the main thread only."""
        before = {each: signal.signal(each, self._heard) for each in SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature is Python's
        if self.stop.is_set():
            self.abandon.set()
            self.tell("giving up: what remains is told at the end")
        else:
            self.stop.set()
            self.tell("stopping: the environment will be destroyed (once more to give that up)")
