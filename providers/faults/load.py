"""What isn't a fault at all: users want more."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, Parameter, Problem, Touch
from itbc.providers.faults.objects.conditions import arrived, rolled_out
from itbc.providers.faults.objects.example import LOAD, example
from itbc.providers.faults.objects.pod_template import (
    CONTAINER,
    ROLLOUT_SECONDS,
    WORKLOADS,
    container_of,
    selector,
    unreached,
)
from itbc.providers.faults.objects.variables import has_value, variable_of, variable_set, variable_touched


def _problems(request: FaultRequest) -> Sequence[Problem]:
    problems = unreached(request)
    variable = variable_of(request)
    if isinstance(variable, Problem):
        return [*problems, variable]
    declared = str(variable.declared.get("value", ""))
    if not declared.isdecimal():
        problems.append(
            Problem(
                "variable",
                f"`{variable.name}` isn't declared as a number of users",
                "name the variable that says how many users the workload plays, as a plain number",
            )
        )
    elif int(declared) >= request.parameters["users"]:
        problems.append(
            Problem("users", f"there are {declared} users already, so nothing would rise", "give a larger number")
        )
    return problems


def _touches(request: FaultRequest) -> Sequence[Touch]:
    return (variable_touched(request),)


def _changes(request: FaultRequest) -> Sequence[Change]:
    return (variable_set(request, str(request.parameters["users"])),)


def _effect(request: FaultRequest) -> Effect:
    container = container_of(request)
    more = has_value(container, str(request.parameters["variable"]), str(request.parameters["users"]))
    what = f"{request.target_name} plays {request.parameters['users']} users"
    return Effect(
        within_seconds=ROLLOUT_SECONDS,
        proof=(arrived(selector(request.manifest), more, container.name, what),),
        recovery=(rolled_out(request.target_kind, request.target_name),),
    )


FAULTS = (
    FaultKind(
        kind="load.surge",
        targets=WORKLOADS,
        parameters=(
            CONTAINER,
            Parameter("variable", "string", "The variable that says how many users there are.", False, "USERS"),
            Parameter(
                "users",
                "integer",
                "How many users there are from now on.",
                minimum=1,
                maximum=1_000_000,
                severity="more is more work for everything behind it",
            ),
        ),
        benign=True,
        summary="More users come. Nothing is broken.",
        doc=(
            "Raises the number of users that the application's load generator plays, as a campaign or a holiday would."
            " Nothing is broken by it, so what it touches is no root cause: a scenario with nothing else has"
            " `root_causes = []`, and what is asked of the agent is to see that and to say so. Whether the application"
            " can take it is the scenario's business: give it an objective that the demand is still served."
        ),
        shows=(
            "Every service behind the load generator gets more requests and uses more of the processor; errors and"
            " latencies stay what they were where there is room. The load generator itself was rolled out anew."
        ),
        example=example(LOAD, variable="USERS", users=60),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
