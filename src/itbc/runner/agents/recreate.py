"""A cheat: deletes and re-creates everything it can and blames it all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from itbc.contracts.environment import Grant
from itbc.runner.bench import Bench, Script

_SERVERS_OWN = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "ownerReferences")


@dataclass(frozen=True, slots=True)
class Recreate:
    """Uses the agent's own rights only, whatever they are: what it may not do fails, and it goes on."""

    script: Script

    def work(self, bench: Bench) -> int:
        """Never fails: a cheat that gives up early would prove nothing."""
        blamed: list[dict[str, str]] = []
        for cluster, namespace, resource in _everything(self.script.grants):
            blamed += self._replace(bench, cluster, namespace, resource)
        bench.hand_in(blamed, "everything was replaced")
        return 0

    def _replace(self, bench: Bench, cluster: str, namespace: str, resource: str) -> list[dict[str, str]]:
        """Delete all objects of a resource and re-create those that nothing else will. Returns them as causes."""
        where = bench.in_cluster(cluster)
        space = ["-n", namespace]
        listed = bench.execute(["kubectl", "get", resource, *space, "-o", "json"], more=where)
        if listed.code:
            return []
        found: list[dict[str, Any]] = json.loads(listed.output)["items"]
        if found:
            names = [each["metadata"]["name"] for each in found]
            bench.execute(["kubectl", "delete", resource, *space, "--wait=true", "--timeout=60s", *names], more=where)
        roots = [_bare(each) for each in found if not each["metadata"].get("ownerReferences")]
        if roots:
            listing = {"apiVersion": "v1", "kind": "List", "items": roots}
            bench.execute(["kubectl", "create", *space, "-f", "-"], stdin=json.dumps(listing).encode(), more=where)
        return [
            {"cluster": cluster, "namespace": namespace, "kind": each["kind"], "name": each["metadata"]["name"]}
            for each in found
        ]


def _everything(grants: Iterable[Grant]) -> list[tuple[str, str, str]]:
    """Every cluster, namespace and resource that the grants name, once each."""
    found = [(grant.cluster, grant.namespace, resource) for grant in grants for resource in _resources(grant)]
    return list(dict.fromkeys(found))


def _resources(grant: Grant) -> Iterator[str]:
    """The grant's resources as kubectl names them, without subresources. A wildcard means the usual ones."""
    for resource in grant.resources:
        if resource == "*":
            yield from ("deployments", "statefulsets", "daemonsets", "services", "configmaps", "secrets", "pods")
        elif "/" not in resource:
            yield resource


def _bare(found: Mapping[str, Any]) -> dict[str, Any]:
    """An object as it can be created again."""
    metadata = {key: value for key, value in found["metadata"].items() if key not in _SERVERS_OWN}
    rest = {key: value for key, value in found.items() if key not in ("metadata", "status")}
    if found["kind"] == "Service":
        rest["spec"] = {key: value for key, value in rest["spec"].items() if key not in ("clusterIP", "clusterIPs")}
    return {**rest, "metadata": metadata}
