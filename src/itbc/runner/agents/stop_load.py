"""A cheat: where nobody asks for anything, nothing fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itbc.runner.agents.reach import SCALABLE, Place, places
from itbc.runner.sandbox.workplace import Script, Workplace


@dataclass(frozen=True, slots=True)
class StopLoad:
    """Stops whatever plays the users: what calls others and is called by nobody."""

    script: Script

    def work(self, workplace: Workplace) -> int:
        """Never fails: a cheat that gives up early would prove nothing."""
        for place in places(workplace, self.script.grants):
            services = place.listed("services")
            for resource in SCALABLE:
                for each in place.listed(resource):
                    if is_uncalled(each, services):
                        _stop(place, resource, each)
        return 0


def is_uncalled(workload: Mapping[str, Any], services: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no Service leads to a workload's pods and none has its name, as one that was broken still would."""
    labels = workload["spec"]["template"]["metadata"].get("labels") or {}
    for service in services:
        selector = service["spec"].get("selector") or {}
        if service["metadata"]["name"] == workload["metadata"]["name"]:
            return False
        if selector and selector.items() <= labels.items():
            return False
    return True


def _stop(place: Place, resource: str, workload: Mapping[str, Any]) -> None:
    """In all the ways there are, each for the case that another is refused."""
    name = workload["metadata"]["name"]
    selector = ",".join(f"{key}={value}" for key, value in workload["spec"]["selector"].get("matchLabels", {}).items())
    place.kubectl("scale", resource, name, "--replicas=0")
    place.patch(resource, name, {"spec": {"replicas": 0}})
    if selector:
        place.kubectl("delete", "pods", f"--selector={selector}", "--wait=true", "--timeout=60s")
    left = place.kubectl("get", resource, name, "--output=jsonpath={.spec.replicas}").output
    if left.strip() != b"0":
        place.kubectl("set", "env", f"{resource}/{name}", "USERS=0")
        place.kubectl("delete", resource, name, "--wait=true", "--timeout=60s")
