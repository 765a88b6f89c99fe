"""The reference agent: does what the scenario's own solution says and is told the answer."""

from __future__ import annotations

from dataclasses import dataclass

from itbc.contracts.shape import to_builtins
from itbc.runner.bench import Bench, Script


@dataclass(frozen=True, slots=True)
class Solution:
    """Runs the solution's commands one after the other with the agent's own rights, then hands in the truth."""

    script: Script

    def work(self, bench: Bench) -> int:
        """Stop at the first command that fails; its exit code is the agent's."""
        for repair in self.script.repairs:
            ended = bench.execute(repair.command, more=bench.in_cluster(repair.cluster))
            if ended.code:
                return ended.code
        bench.hand_in([to_builtins(each) for each in self.script.truth.root_causes], "the scenario's own solution")
        return 0
