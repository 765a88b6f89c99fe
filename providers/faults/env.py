"""Faults of a container's environment variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, Parameter, Problem, Touch
from itbc.providers.faults.objects.pod_template import (
    WORKLOADS,
    Container,
    containers,
    escaped,
    literal,
    replaces_pods,
    replicas,
    selector,
    suggestion,
)

ROLLOUT_SECONDS = 120.0
"""How long a workload may take until all its pods have the new template."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable in a container of the declared workload."""

    container: Container
    index: int
    name: str
    declared: Mapping[str, Any]

    @property
    def patch_path(self) -> str:
        """Where the variable's entry is for a JSON patch."""
        return f"/spec/template/spec/containers/{self.container.index}/env/{self.index}"


def _container(request: FaultRequest) -> Container | Problem:
    declared = containers(request.manifest)
    wanted = request.parameters.get("container")
    if wanted is None:
        if len(declared) == 1:
            return declared[0]
        names = ", ".join(f"`{container.name}`" for container in declared) or "none"
        return Problem(
            "container",
            f"the target's pods have {len(declared)} containers",
            f"say which one is meant with `container`; there are: {names}",
        )
    for container in declared:
        if container.name == wanted:
            return container
    return Problem(
        "container",
        f"the target has no container `{wanted}`",
        suggestion(str(wanted), (container.name for container in declared), "container"),
    )


def _variable(request: FaultRequest) -> Variable | Problem:
    container = _container(request)
    if isinstance(container, Problem):
        return container
    wanted = str(request.parameters["variable"])
    entries = container.declared.get("env") or []
    for index, entry in enumerate(entries):
        if isinstance(entry, Mapping) and entry.get("name") == wanted:
            return Variable(container, index, wanted, entry)
    names = [str(entry["name"]) for entry in entries if isinstance(entry, Mapping) and "name" in entry]
    return Problem(
        "variable",
        f"container `{container.name}` declares no environment variable `{wanted}`",
        suggestion(wanted, names, "variable"),
    )


def _problems(request: FaultRequest) -> Sequence[Problem]:
    found: list[Problem] = []
    if not replaces_pods(request.manifest):
        found.append(
            Problem(
                "",
                "the target's update strategy is `OnDelete`, so no pod would get the new value",
                "aim at a workload that replaces its pods when its template changes",
            )
        )
    if replicas(request.manifest) == 0:
        found.append(
            Problem(
                "", "the target is declared with no replicas, so nothing would break", "aim at a workload that runs"
            )
        )
    variable = _variable(request)
    if isinstance(variable, Problem):
        return [*found, variable]
    if "valueFrom" in variable.declared:
        found.append(
            Problem(
                "variable",
                f"`{variable.name}` takes its value from another object",
                "this fault changes plain values; change the ConfigMap or Secret it comes from instead",
            )
        )
    elif request.parameters["value"] == _declared_value(variable):
        found.append(
            Problem(
                "value", f"`{variable.name}` already has this value", "give a value that differs from the declared one"
            )
        )
    return found


def _declared_value(variable: Variable) -> str:
    return str(variable.declared.get("value", ""))


def _found(request: FaultRequest) -> Variable:
    match _variable(request):
        case Variable() as variable:
            return variable
        case problem:  # the checker asks `problems` first, so this is a bug of the caller
            raise ValueError(problem.message)


def _touches(request: FaultRequest) -> Sequence[Touch]:
    variable = _found(request)
    pointer = f"/spec/template/spec/containers/{escaped(variable.container.name)}/env/{escaped(variable.name)}"
    return (Touch(request.target_kind, request.target_name, pointer),)


def _changes(request: FaultRequest) -> Sequence[Change]:
    variable = _found(request)
    path = variable.patch_path
    # The tests make the API server refuse the patch where the live object isn't the declared one any more.
    patch: Sequence[Mapping[str, Any]] = (
        {
            "op": "test",
            "path": f"/spec/template/spec/containers/{variable.container.index}/name",
            "value": variable.container.name,
        },
        {"op": "test", "path": f"{path}/name", "value": variable.name},
        {"op": "add", "path": f"{path}/value", "value": str(request.parameters["value"])},
    )
    return (
        Change(str(request.manifest["apiVersion"]), request.target_kind, request.target_name, request.namespace, patch),
    )


def _effect(request: FaultRequest) -> Effect:
    variable = _found(request)
    value = str(request.parameters["value"])
    return Effect(
        within_seconds=ROLLOUT_SECONDS,
        rollout=((request.target_kind, request.target_name),),
        pods=selector(request.manifest),
        pod_expression=(
            f"spec.containers[?name == {literal(variable.container.name)}].env[]"
            f" | [?name == {literal(variable.name)}].value | [0] == {literal(value)}"
        ),
    )


FAULTS = (
    FaultKind(
        kind="k8s.env.modified",
        targets=WORKLOADS,
        parameters=(
            Parameter(
                "container", "name", "The container; may be left out where the pods have only one.", required=False
            ),
            Parameter("variable", "string", "The environment variable, declared with a plain value."),
            Parameter("value", "string", "The wrong value, different from the declared one."),
        ),
        summary="An environment variable of a container has a wrong value.",
        doc=(
            "Changes the value of one environment variable in the workload's pod template, as a bad release would."
            " Kubernetes rolls the change out to every pod; restarting pods doesn't heal it."
        ),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
