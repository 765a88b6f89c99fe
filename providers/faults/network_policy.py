"""Faults of NetworkPolicies: one that means well and forgets somebody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, LiveCondition, Parameter, Problem, Touch
from itbc.providers.faults.objects.conditions import SYSTEM, counted, gone
from itbc.providers.faults.objects.example import STORE, example
from itbc.providers.faults.objects.naming import misnamed
from itbc.providers.faults.objects.pod_template import (
    WORKLOADS,
    at,
    beside,
    other_workload,
    pod_labels,
    selector,
    without_pods,
)

API = "networking.k8s.io/v1"
ENFORCED_SECONDS = 60.0
"""How long it may take until a policy is in force and a request has run into it."""

DROPS = "network-policy-drops"
"""The ConfigMap in kube-system in which the node counts the packets that each policy's isolation has dropped."""


def _name(request: FaultRequest) -> str:
    return str(request.parameters.get("policy") or request.target_name)


def _policies(request: FaultRequest) -> list[Mapping[str, Any]]:
    return [manifest for manifest in request.around if manifest.get("kind") == "NetworkPolicy"]


def _covers(labels: Mapping[str, Any], pods: Mapping[str, str]) -> bool:
    return labels.items() <= pods.items()


def _problems(request: FaultRequest) -> Sequence[Problem]:
    problems = misnamed("policy", _name(request))
    if not selector(request.manifest):
        problems.append(
            Problem("", "the target's pods have no labels to select them by", "aim at a workload with some")
        )
    problems += without_pods(request)
    caller = other_workload(request, "caller")
    if isinstance(caller, Problem):
        return [*problems, caller]
    for manifest in _policies(request):
        if at(manifest, "metadata").get("name") == _name(request):
            problems.append(
                Problem("policy", f"a NetworkPolicy `{_name(request)}` is there already", "give another name")
            )
        elif _covers(at(manifest, "spec", "podSelector", "matchLabels"), pod_labels(request.manifest)):
            problems.append(
                Problem(
                    "",
                    "a NetworkPolicy already governs the target's pods, and what one allows another can't forbid",
                    "aim at a workload that none governs",
                )
            )
    for name, labels in _others(request).items():
        if _covers(labels, pod_labels(caller)):
            problems.append(
                Problem("caller", f"its pods also have the labels of `{name}`, which stays allowed", "name another one")
            )
    return problems


def _others(request: FaultRequest) -> dict[str, Mapping[str, str]]:
    """The labels of the workloads that stay allowed, by their name."""
    return {
        name: labels
        for name, manifest in sorted(beside(request).items())
        if name != request.parameters["caller"] and (labels := selector(manifest))
    }


def _policy(request: FaultRequest) -> dict[str, Any]:
    elsewhere = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [request.namespace]}
    peers: list[dict[str, Any]] = [
        {"podSelector": {"matchLabels": dict(labels)}} for labels in _others(request).values()
    ]
    # What watches the application from other namespaces isn't meant. It also keeps the list from being empty, which
    # would allow everybody.
    peers.append({"namespaceSelector": {"matchExpressions": [elsewhere]}})
    return {
        "apiVersion": API,
        "kind": "NetworkPolicy",
        "metadata": {"name": _name(request), "namespace": request.namespace},
        "spec": {
            "podSelector": {"matchLabels": dict(selector(request.manifest))},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": peers}],
        },
    }


def _touches(request: FaultRequest) -> Sequence[Touch]:
    return (Touch("NetworkPolicy", _name(request), ""),)


def _changes(request: FaultRequest) -> Sequence[Change]:
    return (Change(API, "NetworkPolicy", _name(request), request.namespace, created=_policy(request)),)


def _effect(request: FaultRequest) -> Effect:
    name = _name(request)
    count = f'[0].data."{request.namespace}.{name}"'
    return Effect(
        within_seconds=ENFORCED_SECONDS,
        proof=(counted(DROPS, count, f"packets to {request.target_name} are dropped because of NetworkPolicy {name}"),),
        recovery=(
            gone(API, "NetworkPolicy", name, request.namespace, f"there is no NetworkPolicy {name}"),
            LiveCondition(
                "v1",
                "ConfigMap",
                f"not_null({count}, 'none') == 'none'",
                f"NetworkPolicy {name} is no longer in force",
                name=DROPS,
                namespace=SYSTEM,
            ),
        ),
    )


FAULTS = (
    FaultKind(
        kind="k8s.netpol.block-ingress",
        targets=WORKLOADS,
        parameters=(
            Parameter("caller", "name", "The workload in the same namespace whose requests are cut, by its name."),
            Parameter("policy", "name", "The NetworkPolicy's name; without it, the target's.", required=False),
        ),
        summary="A NetworkPolicy lets in every caller but one.",
        doc=(
            "Creates a NetworkPolicy that selects the target's pods and allows ingress from every other workload of the"
            " application and from other namespaces, as a list does that was written by hand and forgets one. Packets"
            " of the caller are dropped at once, also those of connections that are open. Restarting pods doesn't heal"
            " it. It needs a network that enforces policies; the proof counts dropped packets, so that one which"
            " doesn't can't go unnoticed."
        ),
        shows=(
            "The target is well and serves its other callers; the caller's requests to it run into time-outs. There is"
            " no event, and no object but the policy says anything."
        ),
        example=example(STORE, caller="checkout"),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
