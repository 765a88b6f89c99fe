"""Faults of Services: requests go to nobody, or to a port that nobody listens on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from itbc.dsl.catalogue import Change, Effect, FaultKind, FaultRequest, Parameter, Problem, Touch
from itbc.providers.faults.objects.conditions import endpoints, has_endpoints, literal
from itbc.providers.faults.objects.example import SERVICE, example
from itbc.providers.faults.objects.pod_template import WORKLOADS, at, containers, escaped, pod_labels, suggestion

SERVICES = frozenset({"Service"})
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?")
"""The form of a label's value in Kubernetes."""

ENDPOINT_SECONDS = 60.0
"""How long the cluster may take to follow a changed Service."""

_PERSISTENT = (
    " Connections that are open already go on to work until either side closes them, as with every change of a Service."
)


def _change(request: FaultRequest, operations: Sequence[Mapping[str, Any]]) -> Change:
    return Change("v1", "Service", request.target_name, request.namespace, tuple(operations))


def _without_selector(request: FaultRequest) -> list[Problem]:
    if at(request.manifest, "spec", "selector"):
        return []
    return [Problem("", "the target selects no pods itself", "aim at a Service that has a `selector`")]


def _selector(request: FaultRequest) -> Mapping[str, str]:
    """The selector that the Service will have."""
    declared = {str(key): str(value) for key, value in at(request.manifest, "spec", "selector").items()}
    return {**declared, str(request.parameters["label"]): str(request.parameters["value"])}


def _selector_problems(request: FaultRequest) -> Sequence[Problem]:
    problems = _without_selector(request)
    if problems:
        return problems
    label, wanted = str(request.parameters["label"]), _selector(request)
    declared = at(request.manifest, "spec", "selector")
    if label not in declared:
        return [
            Problem(
                "label", f"the target selects by no label `{label}`", suggestion(label, map(str, declared), "label")
            )
        ]
    if not _LABEL_VALUE.fullmatch(wanted[label]) or len(wanted[label]) > 63:
        advice = "it is letters, digits, `-`, `_` and `.`, at most 63, and begins and ends with a letter or a digit"
        return [Problem("value", "this can't be the value of a label", advice)]
    for manifest in request.around:
        if manifest.get("kind") in WORKLOADS and wanted.items() <= pod_labels(manifest).items():
            name = at(manifest, "metadata").get("name")
            return [
                Problem(
                    "value",
                    f"the pods of {manifest['kind']} `{name}` have this label, so requests would go there",
                    "give a value that no pod has",
                )
            ]
    return []


def _selector_touches(request: FaultRequest) -> Sequence[Touch]:
    return (Touch("Service", request.target_name, f"/spec/selector/{escaped(str(request.parameters['label']))}"),)


def _selector_changes(request: FaultRequest) -> Sequence[Change]:
    label = str(request.parameters["label"])
    path = f"/spec/selector/{escaped(label)}"
    operations = (
        {"op": "test", "path": path, "value": at(request.manifest, "spec", "selector")[label]},
        {"op": "replace", "path": path, "value": str(request.parameters["value"])},
    )
    return (_change(request, operations),)


def _selector_effect(request: FaultRequest) -> Effect:
    return Effect(
        within_seconds=ENDPOINT_SECONDS,
        proof=(
            endpoints(
                request.target_name,
                "length(@) > `0` && length([].not_null(endpoints, `[]`)[]) == `0`",
                f"Service {request.target_name} has no endpoint",
            ),
        ),
        recovery=(has_endpoints(request.target_name),),
    )


def _ports(request: FaultRequest) -> Sequence[Mapping[str, Any]]:
    listed = at(request.manifest, "spec").get("ports")
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def _port(request: FaultRequest) -> int | Problem:
    """The index of the port that the parameter `port` means, or of the only one."""
    ports = _ports(request)
    wanted = request.parameters.get("port")
    if wanted is None:
        if len(ports) == 1:
            return 0
        return Problem("port", f"the target has {len(ports)} ports", "say which one is meant with `port`, by its name")
    names = [str(entry.get("name", "")) for entry in ports]
    if wanted in names:
        return names.index(str(wanted))
    return Problem("port", f"the target has no port `{wanted}`", suggestion(str(wanted), names, "port"))


def _index(request: FaultRequest) -> int:
    match _port(request):
        case int(index):
            return index
        case problem:  # the checker asks `problems` first, so this is a bug of the caller
            raise ValueError(problem.message)


def _numbers(request: FaultRequest, entry: Mapping[str, Any]) -> set[int]:
    """The port numbers that requests reach now: those of the selected pods' containers, where the port has a name."""
    target = entry.get("targetPort", entry.get("port"))
    if isinstance(target, int):
        return {target}
    chosen = at(request.manifest, "spec", "selector").items()
    return {
        int(port["containerPort"])
        for manifest in request.around
        if manifest.get("kind") in WORKLOADS and chosen <= pod_labels(manifest).items()
        for container in containers(manifest)
        for port in container.declared.get("ports") or []
        if port.get("name") == target
    }


def _target_port_problems(request: FaultRequest) -> Sequence[Problem]:
    index = _port(request)
    problems = _without_selector(request)
    if isinstance(index, Problem):
        return [*problems, index]
    number = request.parameters["target_port"]
    if number in _numbers(request, _ports(request)[index]):
        problems.append(
            Problem("target_port", "requests already go to this port", "give a port that the pods don't listen on")
        )
    return problems


def _target_port_touches(request: FaultRequest) -> Sequence[Touch]:
    entry = _ports(request)[_index(request)]
    segment = escaped(str(entry["name"])) if "name" in entry else str(_index(request))
    return (Touch("Service", request.target_name, f"/spec/ports/{segment}/targetPort"),)


def _target_port_changes(request: FaultRequest) -> Sequence[Change]:
    index = _index(request)
    path = f"/spec/ports/{index}"
    operations = (
        {"op": "test", "path": f"{path}/port", "value": _ports(request)[index].get("port")},
        {"op": "add", "path": f"{path}/targetPort", "value": int(request.parameters["target_port"])},
    )
    return (_change(request, operations),)


def _target_port_effect(request: FaultRequest) -> Effect:
    name = str(_ports(request)[_index(request)].get("name", ""))
    wrong = int(request.parameters["target_port"])
    mine = f"[].ports[] | [?not_null(name, '') == {literal(name)}]"
    return Effect(
        within_seconds=ENDPOINT_SECONDS,
        proof=(
            endpoints(
                request.target_name,
                f"length({mine}) > `0` && length({mine} | [?port != `{wrong}`]) == `0`",
                f"Service {request.target_name} sends requests to port {wrong}",
            ),
        ),
        recovery=(
            has_endpoints(request.target_name),
            endpoints(
                request.target_name,
                f"length({mine}) > `0` && length({mine} | [?port == `{wrong}`]) == `0`",
                f"Service {request.target_name} no longer sends requests to port {wrong}",
            ),
        ),
    )


FAULTS = (
    FaultKind(
        kind="k8s.service.selector",
        targets=SERVICES,
        parameters=(
            Parameter("label", "string", "A label that the Service selects its pods by."),
            Parameter("value", "string", "The value it selects instead, one that no pod has."),
        ),
        summary="A Service selects pods that don't exist.",
        doc=(
            "Changes one label of the Service's selector, as a renamed application would. The Service has no endpoints"
            f" any more, and connections to it are refused. Restarting pods doesn't heal it.{_PERSISTENT}"
        ),
        shows=(
            "The pods behind the Service are well and get no requests; callers see connections refused. The Service's"
            " endpoints are empty. There is no event."
        ),
        example=example(SERVICE, label="app", value="checkout-v2"),
        problems=_selector_problems,
        touches=_selector_touches,
        changes=_selector_changes,
        effect=_selector_effect,
    ),
    FaultKind(
        kind="k8s.service.target-port",
        targets=SERVICES,
        parameters=(
            Parameter(
                "port",
                "name",
                "The Service's port, by its name; may be left out where it has only one.",
                required=False,
            ),
            Parameter(
                "target_port", "integer", "The port of the pods that requests go to instead.", minimum=1, maximum=65535
            ),
        ),
        summary="A Service sends requests to a port that its pods don't listen on.",
        doc=(
            "Changes `targetPort` of one of the Service's ports. The Service keeps its endpoints, with the wrong port;"
            f" connections to them are refused. Restarting pods doesn't heal it.{_PERSISTENT}"
        ),
        shows=(
            "The pods behind the Service are ready and get no requests; callers see connections refused although the"
            " Service has endpoints. There is no event."
        ),
        example=example(SERVICE, target_port=8081),
        problems=_target_port_problems,
        touches=_target_port_touches,
        changes=_target_port_changes,
        effect=_target_port_effect,
    ),
)
