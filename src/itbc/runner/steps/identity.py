"""Step 3: give the agent an identity of its own in each cluster, with the rights that the scenario grants.

It is made before the healthy objects are recorded, so that it is part of what
must not change; its credentials are made only when the agent may begin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from itbc.contracts.environment import Grant
from itbc.contracts.mask import Mask
from itbc.contracts.shape import Shape
from itbc.runner.failures import StepFailed
from itbc.runner.steps.access import Access
from itbc.runner.surroundings import Surroundings

ACCOUNT = "on-call"
"""The agent's name in a cluster: it must not say that this is a test."""

_SHOWN_BY = {"events": "events", "logs": "pods/log"}
"""The resource of the API by which masked telemetry could be seen as well."""

NAMESPACE = "default"
"""Where the account lives, whatever namespaces it has rights in."""


class IdentityInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters."""

    accesses: list[Access]


class IdentityOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The clusters in which the agent has an identity."""

    clusters: list[str]


def identity(step: IdentityInput, around: Surroundings) -> IdentityOutput:
    """Create the account, roles and bindings. Raises StepFailed."""
    for access in step.accesses:
        masks = next(around.masks(each) for each in around.environment.clusters if each.name == access.cluster)
        grants = [each for each in around.environment.task.grants if each.cluster == access.cluster]
        grants = [kept for each in grants if (kept := unmasked(each, masks)) is not None]
        with around.cluster(access.cluster, access.kubeconfig) as client:
            for manifest in rights(grants):
                client.apply(manifest)
    return IdentityOutput(clusters=[each.cluster for each in step.accesses])


def unmasked(grant: Grant, masks: Sequence[Mask]) -> Grant | None:
    """A grant without what the masks hide, None where nothing is left of it.

    Who may read a pod's log by the API server needs no store of logs; rights
    don't tell one service's pods from another's, so they go as a whole. Raises
    StepFailed where a grant of everything would have to be taken apart.
    """
    hidden = {_SHOWN_BY[mask.kind] for mask in masks if mask.kind in _SHOWN_BY}
    if hidden and any(each.split("/")[0] == "*" for each in grant.resources):
        raise StepFailed(
            "input",
            f"{' and '.join(sorted(hidden))} can't be masked: the scenario grants every resource",
            "name the resources in the grant, or leave the mask out",
        )
    resources = [each for each in grant.resources if each not in hidden]
    return msgspec.structs.replace(grant, resources=resources) if resources else None


def session_secret() -> dict[str, Any]:
    """What the agent's credentials are bound to: they die with it, when the agent's work is over."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": ACCOUNT, "namespace": NAMESPACE}}


def rights(grants: Sequence[Grant]) -> list[dict[str, Any]]:
    """The Kubernetes objects of an account with these rights: one role a namespace, holding all its rules."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": NAMESPACE}}
    rules: dict[str, list[Mapping[str, Any]]] = {}
    for grant in grants:
        rule = {"apiGroups": grant.api_groups, "resources": grant.resources, "verbs": grant.verbs}
        rules.setdefault(grant.namespace, []).append(rule)
    objects: list[dict[str, Any]] = [account]
    for namespace in sorted(rules):
        metadata = {"name": ACCOUNT, "namespace": namespace}
        group = "rbac.authorization.k8s.io"
        objects.append({"apiVersion": f"{group}/v1", "kind": "Role", "metadata": metadata, "rules": rules[namespace]})
        objects.append(
            {
                "apiVersion": f"{group}/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "roleRef": {"apiGroup": group, "kind": "Role", "name": ACCOUNT},
                "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
            }
        )
    return objects
