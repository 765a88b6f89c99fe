"""The agent that does nothing. A scenario that it passes is no scenario."""

from __future__ import annotations

from itbc.runner.sandbox.workplace import Workplace


class Noop:
    """Looks at nothing, changes nothing, says nothing: an empty diagnosis would say that nothing is broken."""

    def work(self, workplace: Workplace) -> int:  # noqa: ARG002 - what it has it doesn't use
        """End at once."""
        return 0
