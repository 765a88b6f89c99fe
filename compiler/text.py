"""A plan as text: what `itbc compile --stop-after plan` prints and the golden tests compare."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import yaml

from itbc.compiler.plan import BuildImage, Plan
from itbc.dsl.model import DeclaredObject, ObjectRef
from itbc.dsl.source import Span

_Short = Span | ObjectRef | DeclaredObject | BuildImage


def plan_text(plan: Plan) -> str:
    """The plan as YAML: every step with its id and needs, the same text for the same plan, on any machine."""
    return yaml.dump(_plain(plan), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


class _Dumper(yaml.SafeDumper):
    """Writes equal parts out again instead of linking them."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _plain(value: Any) -> Any:
    """A value in YAML's own types."""
    if isinstance(value, _Short):
        return _short(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {("at" if name == "span" else name): _plain(inner) for name, inner in fields}
    return value


def _short(value: _Short) -> Any:
    """What would be long or depend on the machine, in a few words."""
    match value:
        case Span():
            origin = value.origin
            return f"{origin.file}:{origin.line}:{origin.column}"
        case ObjectRef():
            return f"{value.kind} {value.namespace}/{value.name}" if value.namespace else f"{value.kind} {value.name}"
        case DeclaredObject():
            text = json.dumps(value.manifest, sort_keys=True)
            return f"{_short(value.ref)} sha256:{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        case BuildImage():
            names = [entry.path for entry in value.files]
            return {"name": value.name, "reference": value.reference, "digest": value.digest, "files": names}
