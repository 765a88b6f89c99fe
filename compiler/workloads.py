"""An application's stacks, which are the same on every target but for how images get into the cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from itbc.compiler.plan import DeployApplication
from itbc.compiler.target import StackUse, application_stack, cluster_stack
from itbc.dsl.model import DeclaredObject
from itbc.dsl.source import Span
from itbc.stacks import properties
from itbc.stacks.synthesis import Declaration

PART = 150
"""The most objects in one stack: Terraform rewrites the state after each, so large stacks take quadratic time."""

_READY = frozenset({"DaemonSet", "Deployment", "Pod", "StatefulSet"})
READY_SECONDS = 300
CREATED_SECONDS = 60


@dataclass(frozen=True, slots=True)
class _Named:
    """An object and its resource name in the stack."""

    name: str
    declared: DeclaredObject


def application_stacks(step: DeployApplication, images: Sequence[properties.Image] = ()) -> Iterator[StackUse]:
    """The stacks of an application; `images` are those that the target loads into the cluster itself."""
    kubeconfig = f"{cluster_stack(step.cluster)}.kubeconfig"
    before = tuple(_stack_of(need) for need in step.needs)
    for number, phases in enumerate(_parts(step), 1):
        loaded = list(images) if number == 1 else []
        stack_id = application_stack(step.cluster, step.application, number)
        given = properties.Application(
            id=stack_id, images=loaded, phases=[[_object(entry) for entry in phase] for phase in phases]
        )
        inputs = {"kubeconfig": kubeconfig}
        if loaded:
            inputs["cluster"] = f"{cluster_stack(step.cluster)}.cluster"
        yield StackUse(
            Declaration("application:Application", given),
            needs=before,
            inputs=inputs,
            origins={**_object_origins(phases), **_image_origins(step, loaded)},
        )
        before = (*before, stack_id)


def _stack_of(need: str) -> str:
    """The stack that does a plan's step: `cluster/NAME` or `application/CLUSTER/NAME`."""
    match need.split("/"):
        case ["cluster", name]:
            return cluster_stack(name)
        case ["application", cluster, name]:
            return application_stack(cluster, name)
        case _:
            raise ValueError(f"no stack does {need}")


def _parts(step: DeployApplication) -> Iterator[list[list[_Named]]]:
    """The phases, cut into runs of at most `PART` objects."""
    names = _names([declared for phase in step.phases for declared in phase])
    part: list[list[_Named]] = []
    size = 0
    for phase in step.phases:
        rest = [_Named(next(names), declared) for declared in phase]
        while rest:
            if size == PART:
                yield part
                part, size = [], 0
            now, rest = rest[: PART - size], rest[PART - size :]
            part.append(now)
            size += len(now)
    if part:
        yield part


def _names(objects: Sequence[DeclaredObject]) -> Iterator[str]:
    """Resource names: kind and name, with the namespace where that isn't enough, and a number as a last resort."""
    plain = [_word(declared.ref.kind, declared.ref.name) for declared in objects]
    taken: set[str] = set()
    for declared, name in zip(objects, plain, strict=True):
        wanted = name
        if plain.count(name) > 1:
            wanted = _word(declared.ref.kind, declared.ref.namespace, declared.ref.name)
        free, number = wanted, 1
        while free in taken:
            number += 1
            free = f"{wanted}_{number}"
        taken.add(free)
        yield free


def _word(kind: str, *rest: str) -> str:
    return "_".join([kind.lower(), *(re.sub(r"[^A-Za-z0-9_-]", "_", part) for part in rest)])


def _object(entry: _Named) -> properties.Object:
    ready: Literal["ready", "none"] = "ready" if entry.declared.ref.kind in _READY else "none"
    return properties.Object(
        name=entry.name,
        manifest=json.dumps(entry.declared.manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        wait=ready,
        timeout_seconds=READY_SECONDS if ready == "ready" else CREATED_SECONDS,
    )


def _object_origins(phases: Sequence[Sequence[_Named]]) -> Mapping[str, Span]:
    return {f"itbc_kubernetes_object.{entry.name}": entry.declared.span for phase in phases for entry in phase}


def _image_origins(step: DeployApplication, images: Sequence[properties.Image]) -> Mapping[str, Span]:
    spans = {image.name: image.span for image in step.images}
    return {f"{image.type}.{image.name}": spans[image.name] for image in images}
