"""The pod template of a declared workload, how to point into it, and what keeps a change from reaching pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itbc.dsl.catalogue import Change, FaultRequest, Parameter, Problem, Touch
from itbc.dsl.diagnostics import listing, nearest

WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
"""The kinds whose pods come from `spec.template` and whose rollout Kubernetes reports."""

ROLLOUT_SECONDS = 120.0
"""How long a workload may take until its pods have the new template, or fail to."""

CONTAINER = Parameter(
    "container", "name", "The container; may be left out where the pods have only one.", required=False
)

ROLLING = (
    "Kubernetes rolls the change out as the workload's update strategy says: a rolling update with `maxUnavailable: 0`"
    " keeps the old pods until new ones are ready, so what users notice depends on the strategy; `Recreate` and"
    " StatefulSets end the old pods first. Restarting pods doesn't heal it."
)
"""What the pages say of every fault in a pod template that its pods can't become ready with."""


@dataclass(frozen=True, slots=True)
class Container:
    """A container of a pod template: its index (what a JSON patch needs) and its declaration."""

    index: int
    name: str
    declared: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Where the container is for a JSON patch."""
        return f"/spec/template/spec/containers/{self.index}"

    @property
    def pointer(self) -> str:
        """Where the container is for a touch: list items have their names there."""
        return f"/spec/template/spec/containers/{escaped(self.name)}"


def containers(manifest: Mapping[str, Any]) -> Sequence[Container]:
    """The containers of a workload, without init containers. Empty where the manifest declares none."""
    declared = at(manifest, "spec", "template", "spec").get("containers")
    if not isinstance(declared, list):
        return ()
    return tuple(
        Container(index, str(entry.get("name", "")), entry)
        for index, entry in enumerate(declared)
        if isinstance(entry, dict)
    )


def asked_container(request: FaultRequest) -> Container | Problem:
    """The container that the parameter `container` means, or the only one."""
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


def container_of(request: FaultRequest) -> Container:
    """The container of a request that has no problems. Raises ValueError, a bug of the caller, for others."""
    return found(asked_container(request))


def found(answer: Container | Problem) -> Container:
    """A container that the checker has found before. Raises ValueError, a bug of the caller, where it hasn't."""
    if isinstance(answer, Problem):
        raise ValueError(answer.message)  # noqa: TRY004 - the value is wrong, not its type
    return answer


def beside(request: FaultRequest) -> Mapping[str, Mapping[str, Any]]:
    """The other workloads in the target's namespace, by name."""
    return {
        str(at(manifest, "metadata").get("name")): manifest
        for manifest in request.around
        if manifest.get("kind") in WORKLOADS
        and at(manifest, "metadata").get("namespace", request.namespace) == request.namespace
        and at(manifest, "metadata").get("name") != request.target_name
    }


def other_workload(request: FaultRequest, parameter: str) -> Mapping[str, Any] | Problem:
    """The workload beside the target that a parameter names."""
    wanted = str(request.parameters[parameter])
    others = beside(request)
    if wanted in others:
        return others[wanted]
    if wanted == request.target_name:
        return Problem(parameter, "this is the target itself", "name another workload")
    return Problem(
        parameter, f"there is no workload `{wanted}` beside the target", suggestion(wanted, others, "other workload")
    )


def found_workload(request: FaultRequest, parameter: str) -> Mapping[str, Any]:
    """The workload of a request that has no problems. Raises ValueError, a bug of the caller, for others."""
    match other_workload(request, parameter):
        case Problem() as problem:
            raise ValueError(problem.message)
        case manifest:
            return manifest


def unreached(request: FaultRequest) -> list[Problem]:
    """Why a changed template would reach no pod."""
    problems: list[Problem] = []
    if not replaces_pods(request.manifest):
        problems.append(
            Problem(
                "",
                "the target's update strategy is `OnDelete`, so no pod would get the change",
                "aim at a workload that replaces its pods when its template changes",
            )
        )
    return [*problems, *without_pods(request)]


def without_pods(request: FaultRequest) -> list[Problem]:
    """Why there is nothing to break: the target is declared with no pods."""
    if replicas(request.manifest) != 0:
        return []
    message = "the target is declared with no replicas, so nothing would break"
    return [Problem("", message, "aim at a workload that runs")]


def changed(request: FaultRequest, container: Container, operations: Sequence[Mapping[str, Any]]) -> Change:
    """A change of a container. The API server refuses it where the live object isn't the declared one any more."""
    same = {"op": "test", "path": f"{container.path}/name", "value": container.name}
    return Change(
        str(request.manifest["apiVersion"]),
        request.target_kind,
        request.target_name,
        request.namespace,
        (same, *operations),
    )


def touched(request: FaultRequest, container: Container, *parts: str) -> Touch:
    """A part of a container that a fault changes."""
    return Touch(request.target_kind, request.target_name, "/".join([container.pointer, *map(escaped, parts)]))


def selector(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """The labels that pick the workload's pods."""
    labels = at(manifest, "spec", "selector").get("matchLabels")
    if not labels:
        labels = pod_labels(manifest)
    return {str(key): str(value) for key, value in (labels or {}).items()}


def pod_labels(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """The labels that the workload's pods have."""
    labels = at(manifest, "spec", "template", "metadata", "labels")
    return {str(key): str(value) for key, value in labels.items()}


def replicas(manifest: Mapping[str, Any]) -> int | None:
    """How many pods are asked for; None for a kind that has no such number."""
    if manifest.get("kind") == "DaemonSet":
        return None
    count = at(manifest, "spec").get("replicas", 1)
    return count if isinstance(count, int) else 1


def replaces_pods(manifest: Mapping[str, Any]) -> bool:
    """Whether a changed template reaches the pods by itself (update strategy other than `OnDelete`)."""
    return at(manifest, "spec", "updateStrategy").get("type") != "OnDelete"


def escaped(segment: str) -> str:
    """A segment of a JSON Pointer (RFC 6901)."""
    return segment.replace("~", "~0").replace("/", "~1")


def suggestion(wrong: str, known: Iterable[str], noun: str) -> str:
    """A help text: the closest known name, or all of them."""
    names = list(known)
    if not names:
        return f"it declares no {noun}"
    close = nearest(wrong, names)
    return f"did you mean `{close}`?" if close else f"its {noun}s are {listing(names)}"


def at(manifest: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """The object at a path of a manifest; empty where there is none."""
    here: Any = manifest
    for key in path:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else {}
