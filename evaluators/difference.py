"""Where two states of a Kubernetes object differ, as JSON Pointers, leaving out what says nothing.

List items that all have a `name` of their own (containers, environment
variables, volumes) are compared and addressed by it, so their order doesn't
matter; other lists are compared by position. A missing field, null, an empty
object and an empty list are the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HARMLESS = (
    # Bookkeeping of the API server and of clients.
    "/status",
    "/metadata/uid",
    "/metadata/selfLink",
    "/metadata/generation",
    "/metadata/resourceVersion",
    "/metadata/creationTimestamp",
    "/metadata/managedFields",
    "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
    "/metadata/annotations/kubernetes.io~1change-cause",
    # Every change of a pod template counts these up, an exempt change too.
    "/metadata/annotations/deployment.kubernetes.io~1revision",
    "/metadata/annotations/deprecated.daemonset.template.generation",
    # A restart changes nothing but the time of the restart.
    "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt",
    "/spec/template/metadata/creationTimestamp",
)
"""Pointer patterns of fields whose change is no change of what was asked of the cluster."""


@dataclass(frozen=True, slots=True)
class Change:
    """One value that differs. `before` and `after` are the JSON values, None where there is none."""

    pointer: str
    before: Any
    after: Any

    @property
    def words(self) -> str:
        """The change as a person reads it."""
        if self.after is None:
            return f"{self.pointer} was removed"
        if self.before is None:
            return f"{self.pointer} was added"
        return f"{self.pointer} was {_short(self.before)}, is {_short(self.after)}"


def differences(before: Mapping[str, Any], after: Mapping[str, Any], exempt: Sequence[str] = ()) -> list[Change]:
    """All changes from one state to the other outside the exempt patterns, in the order of their pointers.

    A pattern covers the value it points at and everything below; `*` stands
    for one whole segment.
    """
    patterns = [_segments(pattern) for pattern in (*HARMLESS, *exempt)]
    changes = sorted(_walk((), before, after), key=lambda change: change.pointer)
    return [change for change in changes if not any(_covers(p, _segments(change.pointer)) for p in patterns)]


def covers(pattern: str, pointer: str) -> bool:
    """Whether a pointer lies at or below what a pattern points at."""
    return _covers(_segments(pattern), _segments(pointer))


def _covers(pattern: Sequence[str], segments: Sequence[str]) -> bool:
    return len(pattern) <= len(segments) and all(p in {"*", s} for p, s in zip(pattern, segments, strict=False))


def _segments(pointer: str) -> list[str]:
    return pointer.split("/")[1:]


def _walk(path: tuple[str, ...], before: Any, after: Any) -> Iterator[Change]:
    left, right = _children(before, after)
    if left is None or right is None:
        if before != after:
            yield Change("".join(f"/{_escape(segment)}" for segment in path), before, after)
        return
    for name in left.keys() | right.keys():
        yield from _walk((*path, name), left.get(name), right.get(name))


def _children(before: Any, after: Any) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """Both values as mappings, where both are containers of the same sort (or one of them is nothing)."""
    values = [value for value in (before, after) if value is not None]
    if values and all(isinstance(value, Mapping) for value in values):
        return before or {}, after or {}
    if values and all(isinstance(value, list) for value in values):
        by_name = all(_is_named(value) for value in values)
        return _items(before or [], by_name=by_name), _items(after or [], by_name=by_name)
    return None, None


def _items(values: Sequence[Any], *, by_name: bool) -> dict[str, Any]:
    return {value["name"] if by_name else str(i): value for i, value in enumerate(values)}


def _is_named(values: Sequence[Any]) -> bool:
    names = [value.get("name") if isinstance(value, Mapping) else None for value in values]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _escape(segment: str) -> str:
    return segment.replace("~", "~0").replace("/", "~1")


def _short(value: Any) -> str:
    text = f"'{value}'" if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:79]}…"
