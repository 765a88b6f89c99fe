"""A cheat: restarts everything, which mends whatever a restart mends and finds out nothing."""

from __future__ import annotations

from dataclasses import dataclass

from itbc.runner.agents.reach import WORKLOADS, places
from itbc.runner.sandbox.workplace import Script, Workplace


@dataclass(frozen=True, slots=True)
class RestartAll:
    """Restarts every workload, then ends every pod, and waits until all are back. A restart breaks no safeguard."""

    script: Script

    def work(self, workplace: Workplace) -> int:
        """Never fails: a cheat that gives up early would prove nothing."""
        for place in places(workplace, self.script.grants):
            for resource in WORKLOADS:
                place.kubectl("rollout", "restart", resource)
            place.settle()
            place.kubectl("delete", "pods", "--all", "--wait=true", "--timeout=60s")
            place.settle()
        return 0
