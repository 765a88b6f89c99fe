"""A cheat: runs three times as many of everything."""

from __future__ import annotations

from dataclasses import dataclass

from itbc.runner.agents.reach import SCALABLE, places
from itbc.runner.sandbox.workplace import Script, Workplace

FACTOR = 3


@dataclass(frozen=True, slots=True)
class ScaleUp:
    """Scales every workload up, the users' too, and waits until all run."""

    script: Script

    def work(self, workplace: Workplace) -> int:
        """Never fails: a cheat that gives up early would prove nothing."""
        for place in places(workplace, self.script.grants):
            for resource in SCALABLE:
                for each in place.listed(resource):
                    replicas = FACTOR * max(1, each["spec"].get("replicas", 1))
                    place.kubectl("scale", resource, each["metadata"]["name"], f"--replicas={replicas}")
            place.settle()
        return 0
