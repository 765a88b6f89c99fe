"""Faults of a container's probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, Parameter, Problem, Touch
from itbc.providers.faults.objects.conditions import declared_in, literal, none_serves, rolled_out, some_pod, status_of
from itbc.providers.faults.objects.example import WORKLOAD, example
from itbc.providers.faults.objects.pod_template import (
    CONTAINER,
    ROLLING,
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

_MARGIN_SECONDS = 3.0
"""What a busy machine may add to the time a healthy pod takes to become ready."""


def _handler(container: Container) -> str:
    """How the readiness probe asks: `httpGet`, `tcpSocket`, or nothing that has a port."""
    probe = at(container.declared, "readinessProbe")
    return next((handler for handler in ("httpGet", "tcpSocket") if handler in probe), "")


def _wanted(request: FaultRequest) -> Mapping[str, str | int]:
    """The fields of the probe's handler to set."""
    return {name: request.parameters[name] for name in ("path", "port") if request.parameters.get(name) is not None}


def _problems(request: FaultRequest) -> Sequence[Problem]:
    problems = unreached(request)
    container = asked_container(request)
    if isinstance(container, Problem):
        return [*problems, container]
    handler, wanted = _handler(container), _wanted(request)
    if not handler:
        problems.append(
            Problem(
                "",
                f"container `{container.name}` has no readiness probe by HTTP or TCP",
                "aim at a container that has one",
            )
        )
    elif not wanted:
        problems.append(Problem("", "nothing is said about the probe", "give `path`, `port` or both of them"))
    elif handler != "httpGet" and "path" in wanted:
        problems.append(Problem("path", "the declared probe only connects, it asks for no path", "give `port` instead"))
    elif all(_present(container, handler, field) == value for field, value in wanted.items()):
        problems.append(
            Problem(
                next(iter(wanted)), "the probe already asks for this", "give a value that the program doesn't answer"
            )
        )
    return problems


def _present(container: Container, handler: str, field: str) -> Any:
    """What the probe asks for now; a port as its number, where the container names it."""
    value = at(container.declared, "readinessProbe", handler).get(field)
    if field == "port" and isinstance(value, str):
        named = {port.get("name"): port.get("containerPort") for port in container.declared.get("ports") or []}
        return named.get(value, value)
    return value


def _touches(request: FaultRequest) -> Sequence[Touch]:
    container = container_of(request)
    return tuple(
        touched(request, container, "readinessProbe", _handler(container), field) for field in sorted(_wanted(request))
    )


def _changes(request: FaultRequest) -> Sequence[Change]:
    container = container_of(request)
    handler = _handler(container)
    path = f"{container.path}/readinessProbe/{handler}"
    declared = at(container.declared, "readinessProbe", handler)
    operations: list[Mapping[str, Any]] = []
    for field, value in sorted(_wanted(request).items()):
        if field in declared:
            operations.append({"op": "test", "path": f"{path}/{field}", "value": declared[field]})
        operations.append({"op": "add", "path": f"{path}/{field}", "value": value})
    return (changed(request, container, operations),)


def _effect(request: FaultRequest) -> Effect:
    container = container_of(request)
    handler, pods = _handler(container), selector(request.manifest)
    has = " && ".join(
        f"{declared_in(container.name, f'readinessProbe.{handler}.{field}')} == {_value(value)}"
        for field, value in sorted(_wanted(request).items())
    )
    running = f"{has} && {status_of(container.name, 'state.running.startedAt')} != null"
    name = request.target_name
    return Effect(
        within_seconds=ROLLOUT_SECONDS,
        proof=(
            some_pod(pods, running, f"a pod of {name} with the new probe runs"),
            none_serves(pods, has, f"no pod of {name} with the new probe is ready"),
        ),
        recovery=(rolled_out(request.target_kind, name),),
        steady_seconds=_usual(container),
    )


def _value(value: str | int) -> str:
    return f"`{value}`" if isinstance(value, int) else literal(value)


def _usual(container: Container) -> float:
    """By when a healthy pod would be ready, in seconds after its start: two probes later than the first one."""
    probe = at(container.declared, "readinessProbe")
    return float(probe.get("initialDelaySeconds", 0)) + 2.0 * float(probe.get("periodSeconds", 10)) + _MARGIN_SECONDS


FAULTS = (
    FaultKind(
        kind="k8s.probe.readiness",
        targets=WORKLOADS,
        parameters=(
            CONTAINER,
            Parameter("path", "string", "The path that the probe asks for instead.", required=False),
            Parameter(
                "port", "integer", "The port that the probe asks instead.", required=False, minimum=1, maximum=65535
            ),
        ),
        summary="A container's readiness probe asks for something that it doesn't answer.",
        doc=(
            "Changes path, port or both of the readiness probe in the workload's pod template. New pods run and never"
            f" become ready, so they get no requests from Services. {ROLLING}"
        ),
        shows=(
            "New pods run, don't restart and aren't ready; events say that the readiness probe fails. Services have"
            " only the old pods as endpoints, or none."
        ),
        example=example(WORKLOAD, path="/health/ready"),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
