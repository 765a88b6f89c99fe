"""Faults of what a container may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, Parameter, Problem, Touch
from itbc.dsl.values import BINARY, DECIMAL, quantity
from itbc.providers.faults.objects.conditions import declared_in, literal, rolled_out, some_pod, status_of
from itbc.providers.faults.objects.example import WORKLOAD, example
from itbc.providers.faults.objects.pod_template import (
    CONTAINER,
    ROLLOUT_SECONDS,
    WORKLOADS,
    Container,
    asked_container,
    at,
    changed,
    container_of,
    selector,
    touched,
    unreached,
)

LEAST_BYTES = 12 * 2**20
"""Below this the container runtime itself is killed while it starts the container, which is another fault."""


def _declared(container: Container, which: str) -> float | None:
    """A declared amount of memory in bytes; None where there is none, or none that can be read."""
    written = at(container.declared, "resources", which).get("memory")
    read = None if written is None else quantity(str(written), "memory")
    return read if isinstance(read, float) else None


def _written(amount: float) -> str:
    """An amount of memory as the API server writes it: in the largest unit that it is a whole number of."""
    whole = int(amount)
    for units in (BINARY, {unit: size for unit, size in DECIMAL.items() if size > 1}):
        for unit, size in sorted(units.items(), key=lambda item: -item[1]):
            if whole % int(size) == 0:
                return f"{whole // int(size)}{unit}"
    return str(whole)


def _problems(request: FaultRequest) -> Sequence[Problem]:
    problems = unreached(request)
    container = asked_container(request)
    if isinstance(container, Problem):
        return [*problems, container]
    limit = _declared(container, "limits")
    if limit is not None and request.parameters["memory"] >= limit:
        declared = at(container.declared, "resources", "limits")["memory"]
        problems.append(
            Problem(
                "memory", f"the container's limit is `{declared}`, which isn't more", f"give less than `{declared}`"
            )
        )
    return problems


def _lowers_request(request: FaultRequest, container: Container) -> bool:
    """Whether the request has to be lowered too: Kubernetes refuses one that is above the limit."""
    requested = _declared(container, "requests")
    return requested is not None and requested > request.parameters["memory"]


def _touches(request: FaultRequest) -> Sequence[Touch]:
    container = container_of(request)
    which = ["limits", *(["requests"] if _lowers_request(request, container) else [])]
    return tuple(touched(request, container, "resources", each, "memory") for each in which)


def _changes(request: FaultRequest) -> Sequence[Change]:
    container = container_of(request)
    value = _written(request.parameters["memory"])
    operations: list[Mapping[str, Any]] = []
    if "resources" not in container.declared:
        operations.append({"op": "add", "path": f"{container.path}/resources", "value": {"limits": {"memory": value}}})
        return (changed(request, container, operations),)
    declared = at(container.declared, "resources", "limits")
    if not declared:
        operations.append({"op": "add", "path": f"{container.path}/resources/limits", "value": {"memory": value}})
    else:
        operations.append({"op": "add", "path": f"{container.path}/resources/limits/memory", "value": value})
    if _lowers_request(request, container):
        operations.append({"op": "replace", "path": f"{container.path}/resources/requests/memory", "value": value})
    return (changed(request, container, operations),)


def _effect(request: FaultRequest) -> Effect:
    container = container_of(request).name
    has = f"{declared_in(container, 'resources.limits.memory')} == {literal(_written(request.parameters['memory']))}"
    ended = " || ".join(
        f"{status_of(container, f'{which}.terminated.reason')} == 'OOMKilled'" for which in ("state", "lastState")
    )
    return Effect(
        within_seconds=ROLLOUT_SECONDS,
        proof=(
            some_pod(
                selector(request.manifest),
                f"{has} && ({ended})",
                f"the kernel has killed a pod of {request.target_name} that needed more memory than its limit",
            ),
        ),
        recovery=(rolled_out(request.target_kind, request.target_name),),
    )


FAULTS = (
    FaultKind(
        kind="k8s.resources.insufficient",
        targets=WORKLOADS,
        parameters=(
            CONTAINER,
            Parameter(
                "memory",
                "quantity",
                "The container's new memory limit, less than the declared one and than it needs.",
                minimum=LEAST_BYTES,
                severity="the less, the sooner after its start the container is killed",
            ),
        ),
        summary="A container may use less memory than it needs.",
        doc=(
            "Lowers the memory limit of one container in the workload's pod template (and its request, where that would"
            " be above the limit). The kernel kills the process when it needs more: a real out-of-memory kill, which"
            " the proof waits for. A program that becomes ready before it needs the memory takes the place of the old"
            " pods first. Restarting pods doesn't heal it."
        ),
        shows=(
            "The container ends with `OOMKilled` (exit code 137) and is started again, each time after a longer pause;"
            " its log ends in the middle of its work. Its memory usage nears the limit before each end."
        ),
        example=example(WORKLOAD, memory=float(16 * 2**20)),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
