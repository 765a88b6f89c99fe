"""Environment variables that a container of a workload declares under `env`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itbc.dsl.catalogue import Change, FaultRequest, Problem, Touch
from itbc.providers.faults.objects.conditions import declared_in, literal
from itbc.providers.faults.objects.pod_template import (
    Container,
    asked_container,
    changed,
    container_of,
    suggestion,
    touched,
)


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that a container of the declared workload lists under `env`."""

    container: Container
    index: int
    name: str
    declared: Mapping[str, Any]

    @property
    def patch_path(self) -> str:
        """Where the variable's entry is for a JSON patch."""
        return f"{self.container.path}/env/{self.index}"


def entries(container: Container) -> Sequence[Mapping[str, Any]]:
    """What a container lists under `env`."""
    return [entry if isinstance(entry, Mapping) else {} for entry in container.declared.get("env") or []]


def variable_of(request: FaultRequest) -> Variable | Problem:
    """The variable that the parameter `variable` means, or why there is none."""
    container = asked_container(request)
    if isinstance(container, Problem):
        return container
    wanted = str(request.parameters["variable"])
    listed = entries(container)
    for index, entry in enumerate(listed):
        if entry.get("name") == wanted:
            return Variable(container, index, wanted, entry)
    return Problem(
        "variable",
        f"container `{container.name}` declares no environment variable `{wanted}`",
        suggestion(wanted, [str(entry["name"]) for entry in listed if "name" in entry], "variable"),
    )


def found_variable(request: FaultRequest) -> Variable:
    """The variable of a request that has no problems. Raises ValueError, a bug of the caller, for others."""
    match variable_of(request):
        case Variable() as variable:
            return variable
        case problem:  # the checker asks `problems` first, so this is a bug of the caller
            raise ValueError(problem.message)


def variable_touched(request: FaultRequest) -> Touch:
    """What a fault of the variable that the parameter `variable` names changes, whether it is listed or not."""
    return touched(request, container_of(request), "env", str(request.parameters["variable"]))


def variable_set(request: FaultRequest, value: str) -> Change:
    """The change that gives the variable another value, in a request that has no problems."""
    variable = found_variable(request)
    operations = (
        {"op": "test", "path": f"{variable.patch_path}/name", "value": variable.name},
        {"op": "add", "path": f"{variable.patch_path}/value", "value": value},
    )
    return changed(request, variable.container, operations)


def has_value(container: Container, variable: str, value: str) -> str:
    """Of one pod: the variable is listed with that value."""
    return f"({_listed(container, variable)} | [0].value == {literal(value)})"


def lacks(container: Container, variable: str) -> str:
    """Of one pod: the variable isn't listed."""
    return f"length({_listed(container, variable)}) == `0`"


def _listed(container: Container, variable: str) -> str:
    return declared_in(container.name, f"not_null(env, `[]`)[?name == {literal(variable)}]")
