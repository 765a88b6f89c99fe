"""kubectl, to read and to write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import Field

from itbc.runner.mcp.place import LONGEST_SECONDS, Place


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """Always there: what may be done is said by the cluster."""

    def kubectl(
        arguments: list[str],
        stdin: str = "",
        seconds: Annotated[float, Field(gt=0, le=LONGEST_SECONDS)] = 60,
    ) -> str:
        """Run kubectl with your own credentials and return what it prints.

        `arguments` are the words after `kubectl`, one an item: ["get", "deployment", "checkout", "-o", "yaml"]. `stdin`
        is for `apply -f -` and the like. No shell, no editor, no terminal. It is ended after `seconds`.
        """
        return place.run(["kubectl", *arguments], stdin, seconds)

    return [kubectl]
