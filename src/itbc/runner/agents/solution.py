"""The reference agent, which does what the scenario's own solution says and is told the answer, and its mutants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itbc.contracts.environment import Repair
from itbc.contracts.shape import to_builtins
from itbc.runner.sandbox.workplace import Script, Workplace


@dataclass(frozen=True, slots=True)
class Solution:
    """Runs the solution's commands one after the other with the agent's own rights, then hands in the truth."""

    script: Script

    def work(self, workplace: Workplace) -> int:
        """Stop at the first command that fails; its exit code is the agent's."""
        return _play(workplace, self.script.repairs, self.script, "the scenario's own solution")


@dataclass(frozen=True, slots=True)
class WrongSolution:
    """Runs a mutant's commands instead. It names the truth too, so that only its repair can be what fails."""

    script: Script
    mutant: str

    def work(self, workplace: Workplace) -> int:
        """Stop at the first command that fails; its exit code is the agent's."""
        (found,) = (each for each in self.script.mutants if each.name == self.mutant)
        return _play(workplace, found.steps, self.script, found.why)


def _play(workplace: Workplace, repairs: Sequence[Repair], script: Script, explanation: str) -> int:
    for repair in repairs:
        ended = workplace.execute(repair.command, more=workplace.in_cluster(repair.cluster))
        if ended.code:
            return ended.code
    workplace.hand_in([to_builtins(each) for each in script.truth.root_causes], explanation)
    return 0
