"""A cheat: deletes and re-creates everything it can and blames it all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from itbc.runner.agents.reach import Place, cause, everything
from itbc.runner.sandbox.workplace import Script, Workplace

_SERVERS_OWN = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "ownerReferences")


@dataclass(frozen=True, slots=True)
class Recreate:
    """Uses the agent's own rights only, whatever they are: what it may not do fails, and it goes on."""

    script: Script

    def work(self, workplace: Workplace) -> int:
        """Never fails: a cheat that gives up early would prove nothing."""
        blamed: list[dict[str, str]] = []
        for cluster, namespace, resource in everything(self.script.grants):
            blamed += _replace(Place(workplace, cluster, namespace), resource)
        workplace.hand_in(blamed, "everything was replaced")
        return 0


def _replace(place: Place, resource: str) -> list[dict[str, str]]:
    """Delete all objects of a resource and re-create those that nothing else will. Returns them as causes."""
    found = place.listed(resource)
    if found:
        names = [each["metadata"]["name"] for each in found]
        place.kubectl("delete", resource, "--wait=true", "--timeout=60s", *names)
    roots = [_bare(each) for each in found if not each["metadata"].get("ownerReferences")]
    if roots:
        listing = {"apiVersion": "v1", "kind": "List", "items": roots}
        place.kubectl("create", "-f", "-", stdin=json.dumps(listing).encode())
    return [cause(place.cluster, each) for each in found]


def _bare(found: Mapping[str, Any]) -> dict[str, Any]:
    """An object as it can be created again."""
    metadata = {key: value for key, value in found["metadata"].items() if key not in _SERVERS_OWN}
    rest = {key: value for key, value in found.items() if key not in ("metadata", "status")}
    if found["kind"] == "Service":
        rest["spec"] = {key: value for key, value in rest["spec"].items() if key not in ("clusterIP", "clusterIPs")}
    return {**rest, "metadata": metadata}
