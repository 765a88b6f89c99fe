"""Faults of the network between pods: what one sends to another comes late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, Parameter, Problem, Touch
from itbc.providers.faults.objects.conditions import SYSTEM, counted, gone
from itbc.providers.faults.objects.example import WORKLOAD, example
from itbc.providers.faults.objects.naming import misnamed
from itbc.providers.faults.objects.pod_template import WORKLOADS, found_workload, other_workload, replicas, selector

LABELS = {"node-network.kubernetes.io/kind": "delay"}
DELAYED = "node-network.kubernetes.io/delayed-packets"
"""The annotation in which the node counts the packets that were late because of a ConfigMap."""

EFFECT_SECONDS = 60.0
"""How long it may take until a request has come late."""


def _name(request: FaultRequest) -> str:
    return str(request.parameters.get("name") or f"{request.target_name}-{request.parameters['to']}")


def _problems(request: FaultRequest) -> Sequence[Problem]:
    problems = misnamed("name", _name(request))
    other = other_workload(request, "to")
    if isinstance(other, Problem):
        problems.append(other)
    for place, manifest in (("", request.manifest), ("to", {} if isinstance(other, Problem) else other)):
        if manifest and not selector(manifest):
            problems.append(Problem(place, "its pods have no labels to select them by", "name a workload with some"))
        if manifest and replicas(manifest) == 0:
            problems.append(
                Problem(place, "it is declared with no replicas, so nothing would be late", "name a workload that runs")
            )
    if request.parameters.get("jitter", 0.0) > request.parameters["delay"]:
        problems.append(Problem("jitter", "it is longer than the delay itself", "give at most the delay"))
    return problems


def _data(request: FaultRequest) -> dict[str, str]:
    data = {
        "from_namespace": request.namespace,
        "from_selector": _written(selector(request.manifest)),
        "to_namespace": request.namespace,
        "to_selector": _written(selector(found_workload(request, "to"))),
        "delay_milliseconds": str(round(request.parameters["delay"] * 1000)),
    }
    if request.parameters.get("jitter"):
        data["jitter_milliseconds"] = str(round(request.parameters["jitter"] * 1000))
    if request.parameters.get("port") is not None:
        data["port"] = str(request.parameters["port"])
    return data


def _written(labels: Mapping[str, str]) -> str:
    """Labels as a selector is written in text."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _touches(request: FaultRequest) -> Sequence[Touch]:
    return (Touch("ConfigMap", _name(request), "", SYSTEM),)


def _changes(request: FaultRequest) -> Sequence[Change]:
    made = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _name(request), "namespace": SYSTEM, "labels": dict(LABELS)},
        "data": _data(request),
    }
    return (Change("v1", "ConfigMap", _name(request), SYSTEM, created=made),)


def _effect(request: FaultRequest) -> Effect:
    name, to = _name(request), request.parameters["to"]
    count = f'[0].metadata.annotations."{DELAYED}"'
    nothing = f"nothing asks for late packets from {request.target_name} to {to}"
    return Effect(
        within_seconds=EFFECT_SECONDS,
        proof=(counted(name, count, f"packets from {request.target_name} to {to} come late"),),
        recovery=(gone("v1", "ConfigMap", name, SYSTEM, nothing),),
    )


FAULTS = (
    FaultKind(
        kind="net.delay",
        targets=WORKLOADS,
        parameters=(
            Parameter("to", "name", "The workload in the same namespace that the target calls, by its name."),
            Parameter(
                "delay",
                "duration",
                "How much later each packet comes that the target sends.",
                minimum=0.001,
                maximum=60,
                severity="each round trip takes that much longer; beyond the caller's time-out it fails",
            ),
            Parameter(
                "jitter",
                "duration",
                "By how much the delay varies to either side.",
                required=False,
                default=0.0,
                minimum=0,
                maximum=60,
            ),
            Parameter(
                "port", "integer", "Only packets to this port of the pods.", required=False, minimum=1, maximum=65535
            ),
            Parameter(
                "name",
                "name",
                "What the configuration is called; without it, the two workloads' names.",
                required=False,
            ),
        ),
        summary="What one workload sends to another comes late.",
        doc=(
            "Gives the nodes' network a delay to make: a ConfigMap in the namespace `kube-system`, like one that was"
            " left behind by a test of a slow line. Only connections that the target's pods open to the other"
            " workload's are slowed down, each round trip once. Pods are followed when they restart, so that doesn't"
            " heal it. The node holds the packets back with a queue of the kernel (NFQUEUE); one that has none says so,"
            " and then the proof fails."
        ),
        shows=(
            "The target's requests to the other workload take longer, and so do those of everybody who waits for them;"
            " the other workload itself answers as quickly as before, also to others. There is no event."
        ),
        example=example(WORKLOAD, to="store", delay=1.2),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
