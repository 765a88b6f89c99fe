"""What a stage made, as text: for people, and for golden tests."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import yaml

from itbc.compiler.plan import BuildImage
from itbc.dsl import syntax
from itbc.dsl.catalogue import FaultKind
from itbc.dsl.model import DeclaredObject, ObjectRef
from itbc.dsl.source import SourceFile, Span

_Place = Span | SourceFile | PurePath
_Thing = ObjectRef | FaultKind | DeclaredObject | BuildImage


def as_text(made: Any) -> str:
    """A syntax tree, a scenario or a plan as YAML; the same text for the same thing, on any machine."""
    return yaml.dump(_plain(made), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


class _Dumper(yaml.SafeDumper):
    """Writes equal parts out again instead of linking them."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _plain(value: Any) -> Any:
    """A value in YAML's own types."""
    if isinstance(value, _Place | _Thing):
        return _place(value) if isinstance(value, _Place) else _short(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    if isinstance(value, frozenset):
        return sorted(_plain(inner) for inner in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _record(value)
    return value


def _record(value: Any) -> dict[str, Any]:
    kind = type(value)
    # In a syntax tree the kind of a part is what it is about; everywhere else its place says that.
    shown: dict[str, Any] = {"node": kind.__name__} if kind.__module__ == syntax.__name__ else {}
    for field in dataclasses.fields(value):
        shown["at" if field.name == "span" else field.name] = _plain(getattr(value, field.name))
    return shown


def _place(value: _Place) -> str:
    """Where something is, without what depends on the machine."""
    match value:
        case Span():
            origin = value.origin
            return f"{origin.file}:{origin.line}:{origin.column}"
        case SourceFile():
            return str(value.relative)
        case PurePath():
            return value.name


def _short(value: _Thing) -> Any:
    """What would be long, in a few words."""
    match value:
        case ObjectRef():
            return f"{value.kind} {value.namespace}/{value.name}" if value.namespace else f"{value.kind} {value.name}"
        case FaultKind():
            return value.kind
        case DeclaredObject():
            text = json.dumps(value.manifest, sort_keys=True)
            return f"{_short(value.ref)} sha256:{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        case BuildImage():
            names = [entry.path for entry in value.files]
            return {"name": value.name, "reference": value.reference, "digest": value.digest, "files": names}
