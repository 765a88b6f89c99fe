"""An agent that isn't started by itbc: it comes by MCP, and works with the tools that it finds there."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from itbc.runner.mcp.place import Place
from itbc.runner.mcp.server import serving
from itbc.runner.sandbox.programs import OutOfTime
from itbc.runner.sandbox.workplace import Workplace
from itbc.runner.waiting import TooLate

SETTINGS = "mcp.json"
"""The file in the run's folder that says how to connect. It holds the token, so it is there only while it is good."""


FAREWELL_SECONDS = 2.0
"""How long a client has to close its session after the answer; some never do."""


class Mcp:
    """Waits until somebody has handed in an answer."""

    def work(self, workplace: Workplace) -> int:
        """Serve the tools; it ends well with `submit`. Raises OutOfTime where nobody calls that in time."""
        place = Place(workplace)
        patience = workplace.patience
        with serving(place, workplace.output) as served, _told(workplace.run / SETTINGS, served.settings()) as file:
            workplace.say(f"waiting for an MCP client at {served.url}, settings with the token in {file}")
            try:
                patience.until(
                    lambda: place.submitted.is_set() or None, workplace.deadline - patience.monotonic(), every=0.1
                )
            except TooLate as late:
                raise OutOfTime from late
            # Who has handed in still hears so, and closes its session.
            served.left.wait(FAREWELL_SECONDS)
        return 0


@contextmanager
def _told(path: Path, settings: dict[str, Any]) -> Generator[Path]:
    """The settings in a file that only its owner reads, as long as the block runs."""
    part = path.with_suffix(".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(settings, file, indent=2, sort_keys=True)
        file.write("\n")
    part.replace(path)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
