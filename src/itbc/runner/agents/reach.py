"""What a cheat can lay its hands on: what its own rights and its own network reach, and nothing that it was told.

Nothing here raises for what is refused: a cheat takes what it gets and goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from itbc.contracts.environment import Grant
from itbc.runner.sandbox.programs import Ended
from itbc.runner.sandbox.workplace import Workplace

WORKLOADS = ("deployments", "statefulsets", "daemonsets")
"""The resources that keep pods running and can be restarted as a whole."""

SCALABLE = ("deployments", "statefulsets")

ROLLOUT_SECONDS = 60
"""How long a cheat waits for its own changes, so that they count in what is judged afterwards."""

_USUAL = (*WORKLOADS, "services", "configmaps", "secrets", "pods")
_PROMETHEUS_PORT = 9090
_ALERTMANAGER_PORT = 9093


@dataclass(frozen=True, slots=True)
class Monitors:
    """The base URLs of a cluster's monitoring, known or guessed."""

    prometheus: str
    alertmanager: str


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace in which the agent has rights, by way of the agent's own programs."""

    workplace: Workplace
    cluster: str
    namespace: str

    def kubectl(self, *words: str, stdin: bytes = b"") -> Ended:
        """Run kubectl there with the agent's own credentials."""
        command = ["kubectl", words[0], "-n", self.namespace, *words[1:]]
        return self.workplace.execute(command, stdin=stdin, more=self.workplace.in_cluster(self.cluster))

    def listed(self, resource: str) -> list[dict[str, Any]]:
        """All objects of a resource; none where they may not be seen."""
        return items(self.kubectl("get", resource, "-o", "json"))

    def patch(self, resource: str, name: str, change: Mapping[str, Any]) -> None:
        """Merge a change into an object; a null removes."""
        self.kubectl("patch", resource, name, "--type=merge", f"--patch={json.dumps(change, sort_keys=True)}")

    def settle(self) -> None:
        """Wait until the workloads run as they are now asked to, as far as they ever will."""
        for resource in WORKLOADS:
            if names := [each["metadata"]["name"] for each in self.listed(resource)]:
                self.kubectl("rollout", "status", f"--timeout={ROLLOUT_SECONDS}s", *(f"{resource}/{n}" for n in names))


def places(workplace: Workplace, grants: Iterable[Grant]) -> list[Place]:
    """Every namespace that the grants name, once each."""
    return [Place(workplace, *each) for each in dict.fromkeys((grant.cluster, grant.namespace) for grant in grants)]


def everything(grants: Iterable[Grant]) -> list[tuple[str, str, str]]:
    """Every cluster, namespace and resource that the grants name, once each."""
    found = [(grant.cluster, grant.namespace, resource) for grant in grants for resource in _resources(grant)]
    return list(dict.fromkeys(found))


def _resources(grant: Grant) -> Iterator[str]:
    """The grant's resources as kubectl names them, without subresources. A wildcard means the usual ones."""
    for resource in grant.resources:
        if resource == "*":
            yield from _USUAL
        elif "/" not in resource:
            yield resource


def items(listed: Ended, part: str = "items") -> list[dict[str, Any]]:
    """The list that is a part of a JSON object that a program printed; none where it failed."""
    if listed.code:
        return []
    try:
        found: list[dict[str, Any]] = json.loads(listed.output)[part]
    except (ValueError, KeyError, TypeError):
        return []
    return found


def cause(cluster: str, thing: Mapping[str, Any]) -> dict[str, str]:
    """An object as a root cause of an answer."""
    metadata = thing["metadata"]
    return {
        "cluster": cluster,
        "namespace": metadata.get("namespace", ""),
        "kind": thing["kind"],
        "name": metadata["name"],
    }


def monitors(workplace: Workplace, cluster: str) -> Monitors:
    """Where a cluster's monitoring is: as the agent was told, or on the usual ports of the API server's machine."""
    server = workplace.execute(
        ["kubectl", "config", "view", "--minify", "--output=jsonpath={.clusters[0].cluster.server}"],
        more=workplace.in_cluster(cluster),
    )
    host = urlsplit(server.output.decode(errors="replace")).hostname or "127.0.0.1"

    def url(variable: str, port: int) -> str:
        told = workplace.sandbox.environment.get(variable, "")
        # What the agent is told in its environment is the first cluster's.
        return told if urlsplit(told).hostname == host else f"http://{host}:{port}"

    return Monitors(url("ITBC_PROMETHEUS_URL", _PROMETHEUS_PORT), url("ITBC_ALERTMANAGER_URL", _ALERTMANAGER_PORT))


def send(workplace: Workplace, verb: str, base: str, path: str, body: bytes = b"") -> Ended:
    """One HTTP request with kubectl, which is there wherever an agent is: `create` posts, `replace` puts, `delete`."""
    command = ["kubectl", "--kubeconfig=/dev/null", f"--server={base}", verb, f"--raw={path}"]
    return workplace.execute([*command, "--filename=-"] if verb != "delete" else command, stdin=body)
