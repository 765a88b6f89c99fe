"""Rights of the node's own programs in the cluster: roles and bindings, each with its API path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NETWORK_POLICY_USER = "network-policy"
NODE_NETWORK_USER = "node-network"
"""Whom `edge-delay` is to the API server."""

_GROUP = "rbac.authorization.k8s.io"
_READ = ("list", "watch")


def node() -> list[tuple[str, dict[str, Any]]]:
    """What the programs beside Kubernetes' own may do that start with a cluster."""
    policies = [
        {"apiGroups": [""], "resources": ["namespaces", "pods"], "verbs": [*_READ]},
        {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": [*_READ]},
    ]
    drops = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "patch"]}]
    pods = [{"apiGroups": [""], "resources": ["pods"], "verbs": [*_READ]}]
    wishes = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": [*_READ, "patch"]}]
    return [
        *grant(NETWORK_POLICY_USER, policies),
        *grant(NETWORK_POLICY_USER, drops, "kube-system"),
        *grant(NODE_NETWORK_USER, pods),
        *grant(NODE_NETWORK_USER, wishes, "kube-system"),
    ]


def grant(user: str, rules: Sequence[dict[str, Any]], namespace: str = "") -> list[tuple[str, dict[str, Any]]]:
    """A role of the user's name and its binding, in a namespace or (without one) everywhere."""
    kind = "Role" if namespace else "ClusterRole"
    metadata = {"name": user, "namespace": namespace} if namespace else {"name": user}
    role = {"apiVersion": f"{_GROUP}/v1", "kind": kind, "metadata": metadata, "rules": list(rules)}
    binding = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": user},
        "subjects": [{"apiGroup": _GROUP, "kind": "User", "name": user}],
    }
    place = f"/apis/{_GROUP}/v1" + (f"/namespaces/{namespace}" if namespace else "")
    plural = kind.lower()
    return [(f"{place}/{plural}s/{user}", role), (f"{place}/{plural}bindings/{user}", binding)]
