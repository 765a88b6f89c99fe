"""Faults of a container's image."""

from __future__ import annotations

import re
from collections.abc import Sequence

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, Parameter, Problem, Touch
from itbc.providers.faults.objects.conditions import declared_in, literal, none_serves, rolled_out, some_pod, status_of
from itbc.providers.faults.objects.example import WORKLOAD, example
from itbc.providers.faults.objects.pod_template import (
    CONTAINER,
    ROLLING,
    ROLLOUT_SECONDS,
    WORKLOADS,
    asked_container,
    changed,
    container_of,
    selector,
    touched,
    unreached,
)

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
"""The form of a tag, as in the reference grammar of the OCI distribution specification."""


def _with_tag(reference: str, tag: str) -> str:
    """An image reference with another tag; a digest, which would win over the tag, is dropped."""
    name = reference.partition("@")[0]
    head, colon, last = name.rpartition(":")
    if colon and "/" not in last:  # otherwise the colon belongs to the registry's port
        name = head
    return f"{name}:{tag}"


def _wrong(request: FaultRequest) -> str:
    return _with_tag(str(container_of(request).declared.get("image", "")), str(request.parameters["tag"]))


def _problems(request: FaultRequest) -> Sequence[Problem]:
    problems = unreached(request)
    container = asked_container(request)
    if isinstance(container, Problem):
        return [*problems, container]
    if not _TAG.fullmatch(str(request.parameters["tag"])):
        problems.append(
            Problem(
                "tag",
                "this can't be a tag, so nobody would try to pull it",
                "a tag is letters, digits, `_`, `.` and `-`, at most 128, and begins with none of the last two",
            )
        )
    elif _wrong(request) in _used(request):
        problems.append(
            Problem("tag", "the application uses an image with this tag, so it exists", "give a tag that nobody built")
        )
    return problems


def _used(request: FaultRequest) -> set[str]:
    """Every image that the application's workloads use."""
    found: set[str] = set()
    for manifest in (request.manifest, *request.around):
        spec = ((manifest.get("spec") or {}).get("template") or {}).get("spec") or {}
        for entry in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
            found.add(str(entry.get("image")))
    return found


def _touches(request: FaultRequest) -> Sequence[Touch]:
    return (touched(request, container_of(request), "image"),)


def _changes(request: FaultRequest) -> Sequence[Change]:
    container = container_of(request)
    path = f"{container.path}/image"
    operations = (
        {"op": "test", "path": path, "value": container.declared.get("image")},
        {"op": "replace", "path": path, "value": _wrong(request)},
    )
    return (changed(request, container, operations),)


def _effect(request: FaultRequest) -> Effect:
    container = container_of(request).name
    pods = selector(request.manifest)
    has = f"{declared_in(container, 'image')} == {literal(_wrong(request))}"
    reason = status_of(container, "state.waiting.reason")
    return Effect(
        within_seconds=ROLLOUT_SECONDS,
        proof=(
            some_pod(
                pods,
                f"{has} && ({reason} == 'ErrImagePull' || {reason} == 'ImagePullBackOff')",
                f"a pod of {request.target_name} waits for an image that can't be pulled",
            ),
            none_serves(pods, has, f"no pod of {request.target_name} with the new image serves"),
        ),
        recovery=(rolled_out(request.target_kind, request.target_name),),
    )


FAULTS = (
    FaultKind(
        kind="k8s.image.nonexistent",
        targets=WORKLOADS,
        parameters=(CONTAINER, Parameter("tag", "name", "The image's new tag, one that was never built.")),
        summary="A container's image has a tag that doesn't exist.",
        doc=(
            "Changes the tag of one container's image in the workload's pod template, as a release with a typing"
            f" mistake would. {ROLLING} A StatefulSet's broken pod isn't replaced by repairing the template alone:"
            " Kubernetes waits for it to become ready first, so it has to be deleted."
        ),
        shows=(
            "New pods wait with `ErrImagePull` and `ImagePullBackOff`, and events say that the image can't be pulled."
        ),
        example=example(WORKLOAD, tag="1.4.3"),
        problems=_problems,
        touches=_touches,
        changes=_changes,
        effect=_effect,
    ),
)
