"""Conditions on live objects that several families build their proofs from.

Each is a JMESPath expression over the list of objects that the API server
gives. In it `|` binds weakest, so what is put into a filter has to be whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from itbc.dsl.catalogue import LiveCondition

STAYING = "[?!(metadata.deletionTimestamp) && status.phase != 'Succeeded' && status.phase != 'Failed']"
"""Of pods: those that neither go away nor have ended."""

SYSTEM = "kube-system"
"""The namespace in which the node reads what its network is to do, and notes what it has done."""

READY = "(status.conditions[?type == 'Ready'] | [0].status == 'True')"
"""Of one pod: that it gets requests."""

_SEEN = "[0].status.observedGeneration >= [0].metadata.generation"


def _number(path: str) -> str:
    # Kubernetes leaves out counts that are zero.
    return f"not_null([0].{path}, `0`)"


_THROUGH: Mapping[str, str] = {
    "Deployment": " && ".join(
        [
            _SEEN,
            f"{_number('status.updatedReplicas')} == {_number('spec.replicas')}",
            f"{_number('status.replicas')} == {_number('spec.replicas')}",
            f"{_number('status.availableReplicas')} == {_number('spec.replicas')}",
        ]
    ),
    "StatefulSet": " && ".join(
        [
            _SEEN,
            "[0].status.currentRevision == [0].status.updateRevision",
            f"{_number('status.readyReplicas')} == {_number('spec.replicas')}",
        ]
    ),
    "DaemonSet": " && ".join(
        [
            _SEEN,
            f"{_number('status.updatedNumberScheduled')} == {_number('status.desiredNumberScheduled')}",
            f"{_number('status.numberAvailable')} == {_number('status.desiredNumberScheduled')}",
        ]
    ),
}
"""When the rollout of a workload has gone through, over the list that holds it."""


def literal(value: str) -> str:
    """A string as a JMESPath literal, safe for any characters in it."""
    return "`" + json.dumps(value).replace("`", "\\u0060") + "`"


def status_of(container: str, path: str) -> str:
    """Of one pod: a part of the status that the kubelet reports of a container."""
    return f"(status.containerStatuses[?name == {literal(container)}] | [0].{path})"


def declared_in(container: str, path: str) -> str:
    """Of one pod: a part of a container's specification."""
    return f"(spec.containers[?name == {literal(container)}] | [0].{path})"


def rolled_out(kind: str, name: str) -> LiveCondition:
    """A workload's present template is in all of its pods, and they serve."""
    return LiveCondition(
        "apps/v1",
        kind,
        f"length(@) == `1` && {_THROUGH[kind]}",
        f"the rollout of {kind} {name} has gone through",
        name=name,
    )


def some_pod(labels: Mapping[str, str], expression: str, what: str) -> LiveCondition:
    """At least one pod that stays is like that."""
    return _pods(labels, f"length({STAYING} | [?{expression}]) > `0`", what)


def arrived(labels: Mapping[str, str], expression: str, container: str, what: str) -> LiveCondition:
    """A changed template has reached the pods: all that stay have it and serve, or one that has it has ended.

    The latter is as far as a rolling update gets with a change that pods can't live with.
    """
    ended = f"{status_of(container, 'restartCount')} > `0`"
    return _pods(
        labels,
        f"{STAYING} | {{all: @, new: [?{expression}]}}"
        f" | {{all: all, new: new, ready: new[?{READY}], ended: new[?{ended}]}}"
        " | length(new) > `0` && (length(ready) == length(all) || length(ended) > `0`)",
        what,
    )


def none_serves(labels: Mapping[str, str], expression: str, what: str) -> LiveCondition:
    """There are pods like that which stay, and none of them is ready."""
    dead = f"{STAYING} | [?{expression}] | length(@) > `0` && length([?{READY}]) == `0`"
    return _pods(labels, dead, what)


def endpoints(service: str, expression: str, what: str) -> LiveCondition:
    """Something is so of a Service's EndpointSlices."""
    labels = {"kubernetes.io/service-name": service}
    return LiveCondition("discovery.k8s.io/v1", "EndpointSlice", expression, what, labels=labels)


def has_endpoints(service: str) -> LiveCondition:
    """A Service has somebody to send requests to."""
    return endpoints(
        service, "length([].endpoints[] | [?conditions.ready]) > `0`", f"Service {service} has a ready endpoint"
    )


def counted(config_map: str, path: str, what: str) -> LiveCondition:
    """The node has counted something in a ConfigMap of its own; `path` leads to the count in the list that holds it."""
    expression = f"to_number(not_null({path}, '0')) > `0`"
    return LiveCondition("v1", "ConfigMap", expression, what, name=config_map, namespace=SYSTEM)


def gone(api_version: str, kind: str, name: str, namespace: str, what: str) -> LiveCondition:
    """There is no such object (any more)."""
    return LiveCondition(api_version, kind, "length(@) == `0`", what, name=name, namespace=namespace)


def _pods(labels: Mapping[str, str], expression: str, what: str) -> LiveCondition:
    return LiveCondition("v1", "Pod", expression, what, labels=labels)
