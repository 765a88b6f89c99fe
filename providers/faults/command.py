"""Faults of what a container runs."""

from __future__ import annotations

import shlex
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
    changed,
    container_of,
    selector,
    touched,
    unreached,
)

_FIELDS: Mapping[str, str] = {"command": "command", "arguments": "args"}
"""Parameter → field of the container."""


def _words(request: FaultRequest) -> Mapping[str, list[str]]:
    """The fields to set and their words. Raises ValueError where a text's quotes don't match."""
    return {
        field: shlex.split(str(request.parameters[name]))
        for name, field in _FIELDS.items()
        if request.parameters.get(name) is not None
    }


def _problems(request: FaultRequest) -> Sequence[Problem]:
    problems = unreached(request)
    container = asked_container(request)
    if isinstance(container, Problem):
        return [*problems, container]
    for name in _FIELDS:
        try:
            shlex.split(str(request.parameters.get(name) or ""))
        except ValueError:
            problems.append(Problem(name, "the quotes in this text don't match", "close every quote that is opened"))
            return problems
    wanted = _words(request)
    if not wanted:
        problems.append(
            Problem(
                "", "nothing is said about what the container is to run", "give `command`, `arguments` or both of them"
            )
        )
    elif all((container.declared.get(field) or []) == words for field, words in wanted.items()):
        problems.append(
            Problem(
                next(name for name, field in _FIELDS.items() if field in wanted),
                "the container already runs this",
                "give something that differs from what is declared",
            )
        )
    return problems


def _touches(request: FaultRequest) -> Sequence[Touch]:
    container = container_of(request)
    return tuple(touched(request, container, field) for field in sorted(_words(request)))


def _changes(request: FaultRequest) -> Sequence[Change]:
    container = container_of(request)
    operations: list[Mapping[str, Any]] = []
    for field, words in sorted(_words(request).items()):
        if field in container.declared:
            operations.append({"op": "test", "path": f"{container.path}/{field}", "value": container.declared[field]})
        operations.append({"op": "add", "path": f"{container.path}/{field}", "value": words})
    return (changed(request, container, operations),)


def _has(request: FaultRequest, container: Container) -> str:
    """Of one pod: the container runs what it shouldn't."""
    tests: list[str] = []
    for field, words in sorted(_words(request).items()):
        listed = declared_in(container.name, f"not_null({field}, `[]`)")
        tests.append(f"length({listed}) == `{len(words)}`")
        tests.extend(
            f"{declared_in(container.name, f'{field}[{i}]')} == {literal(word)}" for i, word in enumerate(words)
        )
    return " && ".join(tests)


def _effect(request: FaultRequest) -> Effect:
    container = container_of(request)
    pods = selector(request.manifest)
    has = _has(request, container)
    restarts = status_of(container.name, "restartCount")
    return Effect(
        within_seconds=ROLLOUT_SECONDS,
        proof=(
            some_pod(pods, f"{has} && {restarts} > `0`", f"a pod of {request.target_name} was started more than once"),
            none_serves(pods, has, f"no pod of {request.target_name} with the new command serves"),
        ),
        recovery=(rolled_out(request.target_kind, request.target_name),),
    )


FAULTS = (
    FaultKind(
        kind="k8s.command.invalid",
        targets=WORKLOADS,
        parameters=(
            CONTAINER,
            Parameter(
                "command", "string", "What `command` is to be: words as in a shell, quoted as there.", required=False
            ),
            Parameter(
                "arguments", "string", "What `args` is to be: words as in a shell, quoted as there.", required=False
            ),
        ),
        summary="A container runs a command that ends at once.",
        doc=(
            "Changes `command`, `args` or both of one container in the workload's pod template: a program that isn't in"
            " the image, or an argument that the program refuses. The container ends, is started again, and ends: a"
            f" crash loop. {ROLLING}"
        ),
        shows=(
            "New pods restart again and again and wait with `CrashLoopBackOff`. Their logs hold what the program says"
            " about its arguments; where the program itself is missing, only the pod's status and events do."
        ),
        example=example(WORKLOAD, arguments="serve --config /etc/checkout.yml"),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
