"""Faults of how many pods a workload has."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, LiveCondition, Problem, Touch
from itbc.providers.faults.objects.conditions import endpoints, has_endpoints, rolled_out
from itbc.providers.faults.objects.example import WORKLOAD, example
from itbc.providers.faults.objects.pod_template import (
    ROLLOUT_SECONDS,
    WORKLOADS,
    at,
    pod_labels,
    replicas,
    selector,
    without_pods,
)

_PATH = "/spec/replicas"

_NONE_WANTED = (
    "length(@) == `1` && [0].status.observedGeneration >= [0].metadata.generation"
    " && [0].spec.replicas == `0` && not_null([0].status.replicas, `0`) == `0`"
)
"""The controller has seen that no pod is wanted, and has taken down the last one."""

_NONE_RUNS = "length([?status.phase != 'Succeeded' && status.phase != 'Failed']) == `0`"
"""Of pods: none is left. One that is going away counts: it may still answer."""

_NONE_ASKED = "length(@) > `0` && length([].not_null(endpoints, `[]`)[]) == `0`"
"""Of EndpointSlices: there is nobody in them."""


def _services(request: FaultRequest) -> Sequence[str]:
    """The Services that lead to the target's pods and to no other workload's."""
    found: list[str] = []
    for manifest in request.around:
        chosen = at(manifest, "spec", "selector").items()
        if manifest.get("kind") != "Service" or not chosen or not _beside(request, manifest):
            continue
        behind = {
            (other["kind"], at(other, "metadata").get("name"))
            for other in request.around
            if other.get("kind") in WORKLOADS and _beside(request, other) and chosen <= pod_labels(other).items()
        }
        if behind == {(request.target_kind, request.target_name)}:
            found.append(str(at(manifest, "metadata").get("name")))
    return sorted(found)


def _beside(request: FaultRequest, manifest: object) -> bool:
    """Whether a declared object is in the target's namespace."""
    return isinstance(manifest, dict) and (
        at(manifest, "metadata").get("namespace", request.namespace) == request.namespace
    )


def _problems(request: FaultRequest) -> Sequence[Problem]:
    problems = without_pods(request)
    if not selector(request.manifest):
        problems.append(Problem("", "the target selects no pods", "aim at a Deployment that has a `selector`"))
    return problems


def _touches(request: FaultRequest) -> Sequence[Touch]:
    return (Touch(request.target_kind, request.target_name, _PATH),)


def _changes(request: FaultRequest) -> Sequence[Change]:
    # Where none are declared, the API server has filled in the 1 that `replicas` says.
    operations = (
        {"op": "test", "path": _PATH, "value": replicas(request.manifest)},
        {"op": "replace", "path": _PATH, "value": 0},
    )
    version = str(request.manifest["apiVersion"])
    return (Change(version, request.target_kind, request.target_name, request.namespace, operations),)


def _effect(request: FaultRequest) -> Effect:
    kind, name = request.target_kind, request.target_name
    services = _services(request)
    return Effect(
        within_seconds=ROLLOUT_SECONDS,
        proof=(
            LiveCondition(
                str(request.manifest["apiVersion"]), kind, _NONE_WANTED, f"{kind} {name} has no replicas", name=name
            ),
            LiveCondition("v1", "Pod", _NONE_RUNS, f"no pod of {name} is left", labels=selector(request.manifest)),
            *(endpoints(each, _NONE_ASKED, f"Service {each} has no endpoint") for each in services),
        ),
        recovery=(rolled_out(kind, name), *map(has_endpoints, services)),
    )


FAULTS = (
    FaultKind(
        kind="k8s.deployment.scaled-to-zero",
        targets=frozenset({"Deployment"}),
        parameters=(),
        summary="A Deployment is scaled to no replicas.",
        doc=(
            "Sets `replicas` of a Deployment to 0, as somebody does who takes a workload out of service and forgets to"
            " bring it back. Its pods are ended in their usual way, the Services in front of it have no endpoints any"
            " more, and connections to them are refused. Nothing is wrong with the pod template. Restarting"
            " doesn't heal it: there is nothing to restart. Any number of replicas above zero is a repair, as far as"
            " safeguards can tell."
        ),
        shows=(
            "There is no pod, and the Deployment is as it wants to be: 0 of 0 replicas, available, its rollout"
            " complete. The Services' endpoints are empty, and callers see connections refused. Events say that the"
            " ReplicaSet was scaled down, while they last."
        ),
        example=example(WORKLOAD),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
