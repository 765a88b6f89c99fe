"""What is to be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from itbc.runner.mcp.place import Place
from itbc.runner.sandbox.workplace import TASK


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """Always there."""
    text = (place.workplace.workspace.work / TASK).read_text()

    def task() -> str:
        """Read your task: the goal, how long you have, what there is. Call this first."""
        return text

    return [task]
