"""Finding declared Kubernetes objects by the way references write them: `deployment.checkout`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink, listing, nearest, replace
from itbc.dsl.kubernetes import KIND_WORDS, SHORT_NAMES
from itbc.dsl.model import DeclaredObject
from itbc.dsl.names import unknown
from itbc.dsl.syntax import Name


@dataclass(frozen=True, slots=True)
class Pool:
    """The objects that a reference can mean, and where they are in words.

    Where not all of them could be read (`complete` is False), nothing is called unknown.
    """

    objects: Sequence[DeclaredObject]
    complete: bool
    where: str

    def kind(self, word: Name, sink: Sink) -> str | None:
        """The Kubernetes kind that a word stands for: a kind of the API, or one that the manifests have."""
        known = {**KIND_WORDS, **{declared.ref.kind.lower(): declared.ref.kind for declared in self.objects}}
        if word.text in known:
            return known[word.text]
        if self.complete or word.text in SHORT_NAMES:
            near = self._nearest_kind(word.text, known)
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

    def _nearest_kind(self, word: str, known: Mapping[str, str]) -> str | None:
        if word in SHORT_NAMES:
            return SHORT_NAMES[word]
        for candidate in (word.lower(), word.removesuffix("s"), word.replace("_", "").replace("-", "").lower()):
            if candidate in known:
                return candidate
        used = sorted({declared.ref.kind.lower() for declared in self.objects})
        return nearest(word, used) or nearest(word, list(known))

    def find(self, parts: Sequence[Name], sink: Sink) -> DeclaredObject | None:
        """The object that the last two parts of a reference mean; reports where there is none."""
        word, name = parts[-2], parts[-1]
        kind = self.kind(word, sink)
        if kind is None:
            return None
        for declared in self.objects:
            if (declared.ref.kind, declared.ref.name) == (kind, name.text):
                return declared
        if self.complete:
            self._unknown(kind, word, name, sink)
        return None

    def _unknown(self, kind: str, word: Name, name: Name, sink: Sink) -> None:
        same_kind = [declared.ref.name for declared in self.objects if declared.ref.kind == kind]
        other = [declared.ref.kind.lower() for declared in self.objects if declared.ref.name == name.text]
        if other and not nearest(name.text, same_kind):
            sink.report(
                codes.UNKNOWN_NAME,
                name.span,
                f"there is no {word.text} `{name.text}`{self.where}",
                help=f"`{name.text}` is the name of {listing(other)}",
            )
        else:
            unknown(word.text, name.text, name.span, same_kind, sink, where=self.where)


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
    paths = {"Pod": ("spec",), "CronJob": ("spec", "jobTemplate", "spec", "template", "spec")}
    node: Any = manifest
    for part in paths.get(str(manifest.get("kind")), ("spec", "template", "spec")):
        node = node.get(part) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}
