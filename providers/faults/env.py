"""Faults of a container's environment variables: a wrong value, none at all, one that covers a setting's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, Parameter, Problem, Touch
from itbc.providers.faults.objects.conditions import arrived, rolled_out
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
    suggestion,
    unreached,
)
from itbc.providers.faults.objects.variables import (
    entries,
    found_variable,
    has_value,
    lacks,
    variable_of,
    variable_set,
    variable_touched,
)


def _modified_problems(request: FaultRequest) -> Sequence[Problem]:
    problems = unreached(request)
    variable = variable_of(request)
    if isinstance(variable, Problem):
        return [*problems, variable]
    if "valueFrom" in variable.declared:
        problems.append(
            Problem(
                "variable",
                f"`{variable.name}` takes its value from another object",
                "this fault changes plain values; change the ConfigMap or Secret it comes from instead",
            )
        )
    elif request.parameters["value"] == str(variable.declared.get("value", "")):
        problems.append(
            Problem(
                "value", f"`{variable.name}` already has this value", "give a value that differs from the declared one"
            )
        )
    return problems


def _missing_problems(request: FaultRequest) -> Sequence[Problem]:
    variable = variable_of(request)
    return [*unreached(request), *([variable] if isinstance(variable, Problem) else [])]


def _shadowed_problems(request: FaultRequest) -> Sequence[Problem]:
    problems = unreached(request)
    container = asked_container(request)
    if isinstance(container, Problem):
        return [*problems, container]
    wanted = str(request.parameters["variable"])
    if any(entry.get("name") == wanted for entry in entries(container)):
        problems.append(
            Problem(
                "variable",
                f"container `{container.name}` already sets `{wanted}` under `env`",
                "use k8s.env.modified for a variable that the container sets itself",
            )
        )
        return problems
    settings, whole = _settings(request, container)
    if wanted in settings and settings[wanted] == request.parameters["value"]:
        problems.append(
            Problem("value", f"`{wanted}` already has this value", "give a value that differs from the setting's")
        )
    elif wanted not in settings and whole:
        problems.append(
            Problem(
                "variable",
                f"container `{container.name}` takes no variable `{wanted}` from a ConfigMap, so nothing is covered",
                suggestion(wanted, settings, "setting"),
            )
        )
    return problems


def _settings(request: FaultRequest, container: Container) -> tuple[Mapping[str, str], bool]:
    """What a container takes from ConfigMaps by `envFrom`, and whether that is all it takes."""
    declared = {
        str(at(other, "metadata").get("name")): at(other, "data")
        for other in request.around
        if other.get("kind") == "ConfigMap"
    }
    values: dict[str, str] = {}
    whole = True
    for source in container.declared.get("envFrom") or []:
        name = at(source, "configMapRef").get("name")
        if name in declared:
            prefix = str(source.get("prefix") or "")
            values |= {f"{prefix}{key}": str(value) for key, value in declared[name].items()}
        else:  # a Secret, or an object that the application doesn't declare
            whole = False
    return values, whole


def _own_touches(request: FaultRequest) -> Sequence[Touch]:
    return (variable_touched(request),)


def _modified_changes(request: FaultRequest) -> Sequence[Change]:
    return (variable_set(request, str(request.parameters["value"])),)


def _missing_changes(request: FaultRequest) -> Sequence[Change]:
    variable = found_variable(request)
    operations = (
        {"op": "test", "path": f"{variable.patch_path}/name", "value": variable.name},
        {"op": "remove", "path": variable.patch_path},
    )
    return (changed(request, variable.container, operations),)


def _shadowed_changes(request: FaultRequest) -> Sequence[Change]:
    container = container_of(request)
    entry = {"name": str(request.parameters["variable"]), "value": str(request.parameters["value"])}
    if entries(container):
        operation: Mapping[str, Any] = {"op": "add", "path": f"{container.path}/env/-", "value": entry}
    else:
        operation = {"op": "add", "path": f"{container.path}/env", "value": [entry]}
    return (changed(request, container, (operation,)),)


def _effect(request: FaultRequest, container: Container, expression: str, what: str) -> Effect:
    return Effect(
        within_seconds=ROLLOUT_SECONDS,
        proof=(arrived(selector(request.manifest), expression, container.name, what),),
        recovery=(rolled_out(request.target_kind, request.target_name),),
    )


def _value_effect(request: FaultRequest) -> Effect:
    container = container_of(request)
    what = f"the pods of {request.target_name} have the wrong {request.parameters['variable']}"
    wrong = has_value(container, str(request.parameters["variable"]), str(request.parameters["value"]))
    return _effect(request, container, wrong, what)


def _missing_effect(request: FaultRequest) -> Effect:
    container = container_of(request)
    what = f"the pods of {request.target_name} have no {request.parameters['variable']}"
    return _effect(request, container, lacks(container, str(request.parameters["variable"])), what)


FAULTS = (
    FaultKind(
        kind="k8s.env.modified",
        targets=WORKLOADS,
        parameters=(
            CONTAINER,
            Parameter("variable", "string", "The environment variable, declared with a plain value."),
            Parameter("value", "string", "The wrong value, different from the declared one."),
        ),
        summary="An environment variable of a container has a wrong value.",
        doc=(
            "Changes the value of one environment variable in the workload's pod template, as a bad release would."
            " Kubernetes rolls the change out to every pod; restarting pods doesn't heal it."
        ),
        shows=(
            "A new revision of the workload was rolled out. The pods run; what they do with the value shows in their"
            " logs and in the requests that fail. A value that the program refuses to start with ends in a crash loop."
        ),
        example=example(WORKLOAD, variable="PAYMENT_ADDR", value="payment:9999"),
        problems=_modified_problems,
        touches=_own_touches,
        changes=_modified_changes,
        effect=_value_effect,
    ),
    FaultKind(
        kind="k8s.env.missing",
        targets=WORKLOADS,
        parameters=(
            CONTAINER,
            Parameter("variable", "string", "The environment variable, listed under the container's `env`."),
        ),
        summary="An environment variable that a container needs is gone.",
        doc=(
            "Removes one entry of `env` from the workload's pod template, as a merge gone wrong would."
            " Kubernetes rolls the change out to every pod; restarting pods doesn't heal it."
        ),
        shows=(
            "A new revision of the workload was rolled out. A program that insists on the variable says so in its log"
            " and ends, again and again; one that has a default goes on with that."
        ),
        example=example(WORKLOAD, variable="PAYMENT_ADDR"),
        problems=_missing_problems,
        touches=_own_touches,
        changes=_missing_changes,
        effect=_missing_effect,
    ),
    FaultKind(
        kind="k8s.env.shadowed",
        targets=WORKLOADS,
        parameters=(
            CONTAINER,
            Parameter("variable", "string", "A variable that the container takes from a ConfigMap by `envFrom`."),
            Parameter("value", "string", "The value that covers the ConfigMap's, different from it."),
        ),
        summary="A setting from a ConfigMap is covered by an environment variable of the same name.",
        doc=(
            "Adds an entry to `env` in the workload's pod template. Kubernetes prefers `env` over `envFrom`, so the"
            " ConfigMap still looks right and has no say any more. Restarting pods doesn't heal it."
        ),
        shows=(
            "A new revision of the workload was rolled out. The ConfigMap hasn't changed, and other workloads that use"
            " it are fine; only the pod's own specification shows the second definition."
        ),
        example=example(WORKLOAD, variable="REQUEST_TIMEOUT", value="1ms"),
        problems=_shadowed_problems,
        touches=_own_touches,
        changes=_shadowed_changes,
        effect=_value_effect,
    ),
)
