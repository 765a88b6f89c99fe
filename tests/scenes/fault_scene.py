"""What tests of fault families are made of: requests, patched objects, and pods as the kubelet reports them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import jmespath
import jsonpatch

from itbc.dsl.catalogue import Effect, FaultKind, FaultRequest
from itbc.providers.faults import catalogue
from itbc.providers.faults.objects.example import WORKLOAD, example

Json = dict[str, Any]


def kind_of(name: str) -> FaultKind:
    return catalogue().faults[name]


def request(kind: FaultKind, manifest: Mapping[str, Any] = WORKLOAD, **parameters: Any) -> FaultRequest:
    """A request as the checker makes it: parameters that aren't given have their defaults."""
    defaults = {parameter.name: parameter.default for parameter in kind.parameters if not parameter.required}
    return example(manifest, **{**defaults, **parameters})


def container_changed(**fields: Any) -> Json:
    """The example's workload with other fields in its container; None removes one."""
    manifest = copy.deepcopy(dict(WORKLOAD))
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    for key, value in fields.items():
        if value is None:
            container.pop(key, None)
        else:
            container[key] = value
    return manifest


def spec_changed(**fields: Any) -> Json:
    manifest = copy.deepcopy(dict(WORKLOAD))
    manifest["spec"].update(fields)
    return manifest


def broken(kind: FaultKind, asked: FaultRequest) -> Json:
    """The declared object after the fault's changes."""
    manifest = copy.deepcopy(dict(asked.manifest))
    for change in kind.changes(asked):
        manifest = jsonpatch.apply_patch(manifest, list(change.patch))
    return manifest


def pod(manifest: Mapping[str, Any], *, ready: bool = True, restarts: int = 0, **status: Any) -> Json:
    """A pod of a workload; `status` is more of its container's status."""
    template = copy.deepcopy(manifest["spec"]["template"])
    name = template["spec"]["containers"][0]["name"]
    return {
        "metadata": {**template["metadata"], "name": f"{manifest['metadata']['name']}-x"},
        "spec": template["spec"],
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [{"name": name, "ready": ready, "restartCount": restarts, **status}],
        },
    }


def proven(effect: Effect, objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all of a proof is so of these objects, which are what each of its conditions is about."""
    return all(jmespath.search(condition.expression, list(objects)) is True for condition in effect.proof)
