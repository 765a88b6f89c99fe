"""What "solved" means, and the truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from itbc.compiler.plan import AgentWork, Exempt, Judge, Keep, Node
from itbc.dsl.model import Component, Fault, ObjectRef, Safeguard, Scenario

_LEFT_BEHIND = {
    "CronJob": ("Job", "Pod"),
    "DaemonSet": ("Pod",),
    "Deployment": ("Pod", "ReplicaSet"),
    "Job": ("Pod",),
    "ReplicaSet": ("Pod",),
    "StatefulSet": ("Pod",),
}
"""What stays and runs on where a workload is deleted without what it made: who guards the one must see the other."""


def plan_judgement(scenario: Scenario, work: AgentWork) -> Judge:
    """The whole of the scenario's verdict in one step."""
    return Judge(
        id="judge",
        needs=(work.id,),
        root_causes=scenario.truth.root_causes,
        chain=scenario.truth.chain,
        topology=tuple(
            Node(node.cluster, _with_created(node.component, node.cluster, scenario.faults)) for node in work.topology
        ),
        objectives=scenario.desired.objectives,
        safeguards=tuple(kept for safeguard in scenario.desired.safeguards for kept in _keep(scenario, safeguard)),
        span=scenario.desired.span,
    )


def _with_created(component: Component, cluster: str, faults: Sequence[Fault]) -> Component:
    """The component with what faults that aim at it create: to name that is as near as to name their target."""
    created = [
        fault.place_of(touch)
        for fault in faults
        if (request := fault.request).cluster == cluster
        and ObjectRef(request.target_kind, request.target_name, request.namespace) in component.objects
        for touch in fault.touches
        if not touch.pointer
    ]
    more = tuple(ref for ref in dict.fromkeys(created) if ref not in component.objects)
    return replace(component, objects=(*component.objects, *more)) if more else component


def _keep(scenario: Scenario, safeguard: Safeguard) -> Iterator[Keep]:
    """One entry for each cluster and namespace of a safeguard; its name says which where there are several."""
    kinds: dict[tuple[str, str], list[str]] = defaultdict(list)
    for unchanged in safeguard.unchanged:
        place = kinds[unchanged.cluster, unchanged.namespace]
        for kind in (unchanged.kind, *_LEFT_BEHIND.get(unchanged.kind, ())):
            if kind not in place:
                place.append(kind)
    for (cluster, namespace), here in sorted(kinds.items()):
        name = safeguard.name if len(kinds) == 1 else f"{safeguard.name} ({cluster}/{namespace})"
        exempt = _exempt(scenario, cluster, namespace, here)
        yield Keep(name, cluster, namespace, tuple(sorted(here)), exempt, safeguard.span)


def _exempt(scenario: Scenario, cluster: str, namespace: str, kinds: Sequence[str]) -> tuple[Exempt, ...]:
    """What the faults change is what a repair has to change."""
    found = {
        (touch.kind, touch.name, touch.pointer)
        for fault in scenario.faults
        for touch in fault.touches
        if (fault.request.cluster, fault.place_of(touch).namespace) == (cluster, namespace) and touch.kind in kinds
    }
    return tuple(Exempt(ObjectRef(kind, name, namespace), pointer) for kind, name, pointer in sorted(found))
