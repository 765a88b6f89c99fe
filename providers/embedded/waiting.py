"""Waiting for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from itbc.providers.embedded.errors import EmbeddedError

Found = TypeVar("Found")

INTERVAL = 0.05
"""Seconds between two looks."""


def wait_for(
    what: str,
    look: Callable[[], Found | None],
    seconds: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Found:
    """Look until there is something other than None or False. Raises EmbeddedError when `seconds` have passed."""
    deadline = clock() + seconds
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        if clock() >= deadline:
            raise EmbeddedError(f"{what}: not so within {seconds:g} s")
        pause(INTERVAL)
