"""The pod template of a declared workload, and how to point into it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
"""The kinds whose pods come from `spec.template` and whose rollout Kubernetes reports."""


@dataclass(frozen=True, slots=True)
class Container:
    """A container of a pod template: its index (what a JSON patch needs) and its declaration."""

    index: int
    name: str
    declared: Mapping[str, Any]


def containers(manifest: Mapping[str, Any]) -> Sequence[Container]:
    """The containers of a workload, without init containers. Empty where the manifest declares none."""
    declared = _at(manifest, "spec", "template", "spec").get("containers")
    if not isinstance(declared, list):
        return ()
    return tuple(
        Container(index, str(entry.get("name", "")), entry)
        for index, entry in enumerate(declared)
        if isinstance(entry, dict)
    )


def selector(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """The labels that pick the workload's pods."""
    labels = _at(manifest, "spec", "selector").get("matchLabels")
    if not labels:
        labels = _at(manifest, "spec", "template", "metadata").get("labels")
    return {str(key): str(value) for key, value in (labels or {}).items()}


def replicas(manifest: Mapping[str, Any]) -> int | None:
    """How many pods are asked for; None for a kind that has no such number."""
    if manifest.get("kind") == "DaemonSet":
        return None
    count = _at(manifest, "spec").get("replicas", 1)
    return count if isinstance(count, int) else 1


def replaces_pods(manifest: Mapping[str, Any]) -> bool:
    """Whether a changed template reaches the pods by itself (update strategy other than `OnDelete`)."""
    return _at(manifest, "spec", "updateStrategy").get("type") != "OnDelete"


def escaped(segment: str) -> str:
    """A segment of a JSON Pointer (RFC 6901)."""
    return segment.replace("~", "~0").replace("/", "~1")


def literal(value: str) -> str:
    """A string as a JMESPath literal, safe for any characters in it."""
    return "`" + json.dumps(value).replace("`", "\\u0060") + "`"


def suggestion(wrong: str, known: Iterable[str], noun: str) -> str:
    """A help text: the closest known name, or all of them."""
    names = sorted(known)
    if not names:
        return f"it declares no {noun}"
    close = difflib.get_close_matches(wrong, names, n=1)
    return f"did you mean `{close[0]}`?" if close else f"its {noun}s are {', '.join(f'`{name}`' for name in names)}"


def _at(manifest: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    here: Any = manifest
    for key in path:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else {}
