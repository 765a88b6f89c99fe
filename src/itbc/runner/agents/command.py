"""Any executable as an agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itbc.runner.sandbox.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Command:
    """Runs one command line to its end."""

    command: Sequence[str]

    def work(self, workplace: Workplace) -> int:
        """Run it; its exit code is the agent's."""
        return workplace.execute(self.command).code
