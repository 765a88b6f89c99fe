"""Finding declared Kubernetes objects by the way references write them: `deployment.checkout`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink, listing, nearest, replace
from itbc.dsl.kubernetes import KIND_WORDS, SHORT_NAMES
from itbc.dsl.model import DeclaredObject
from itbc.dsl.names import unknown
from itbc.dsl.syntax import Name


def resolve_kind(word: Name, objects: Sequence[DeclaredObject], complete: bool, sink: Sink) -> str | None:
    """The Kubernetes kind that a word stands for: a kind of the API, or one that the manifests have."""
    known = {**KIND_WORDS, **{declared.ref.kind.lower(): declared.ref.kind for declared in objects}}
    if word.text in known:
        return known[word.text]
    if not complete and word.text not in SHORT_NAMES:
        return None
    singular = word.text.removesuffix("s")
    near = (
        SHORT_NAMES.get(word.text)
        or known.get(word.text.lower(), "").lower()
        or (singular if singular in known else None)
    )
    near = (
        near
        or nearest(word.text, sorted({declared.ref.kind.lower() for declared in objects}))
        or nearest(word.text, list(known))
    )
    sink.report(
        codes.UNKNOWN_NAME,
        word.span,
        f"there is no kind `{word.text}`",
        help=f"did you mean `{near}`?"
        if near
        else "kinds are written in small letters, one word, not plural: `deployment`",
        fix=replace(word.span, near) if near else None,
    )
    return None


def resolve_object(
    parts: Sequence[Name], objects: Sequence[DeclaredObject], complete: bool, where: str, sink: Sink
) -> DeclaredObject | None:
    """The object that `KIND.OBJECT` means; reports where there is none (only where all objects are known: `complete`)."""
    word, name = parts[-2], parts[-1]
    kind = resolve_kind(word, objects, complete, sink)
    if kind is None:
        return None
    for declared in objects:
        if (declared.ref.kind, declared.ref.name) == (kind, name.text):
            return declared
    if not complete:
        return None
    same_kind = [declared.ref.name for declared in objects if declared.ref.kind == kind]
    other = [declared.ref.kind.lower() for declared in objects if declared.ref.name == name.text]
    if other and not nearest(name.text, same_kind):
        sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"there is no {word.text} `{name.text}`{where}",
            help=f"`{name.text}` is the name of {listing(other)}",
        )
        return None
    unknown(word.text, name.text, name.span, same_kind, sink, where)
    return None


def containers(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The containers of a workload's pods, init containers first; none for other objects."""
    found: list[Mapping[str, Any]] = []
    spec = _pod_spec(manifest)
    for key in ("initContainers", "containers"):
        listed = spec.get(key)
        if isinstance(listed, list):
            found.extend(item for item in listed if isinstance(item, dict))
    return found


def _pod_spec(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    path = {"Pod": ("spec",), "CronJob": ("spec", "jobTemplate", "spec", "template", "spec")}.get(
        str(manifest.get("kind")), ("spec", "template", "spec")
    )
    node: Any = manifest
    for part in path:
        node = node.get(part) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}
