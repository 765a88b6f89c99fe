"""A cheat: names everything that it can see as a root cause, so that the true one is among it."""

from __future__ import annotations

from dataclasses import dataclass

from itbc.runner.agents.reach import Place, cause, everything
from itbc.runner.sandbox.workplace import Script, Workplace


@dataclass(frozen=True, slots=True)
class BlameAll:
    """Changes nothing."""

    script: Script

    def work(self, workplace: Workplace) -> int:
        """Never fails: a cheat that gives up early would prove nothing."""
        blamed = [
            cause(cluster, each)
            for cluster, namespace, resource in everything(self.script.grants)
            for each in Place(workplace, cluster, namespace).listed(resource)
            if resource != "events"
        ]
        workplace.hand_in(blamed, "it must be one of these")
        return 0
