"""The stages as text: what `itbc compile --stop-after tree|model` prints and the golden tests compare."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from itbc.dsl.catalogue import FaultKind
from itbc.dsl.model import DeclaredObject, Scenario
from itbc.dsl.source import Span
from itbc.dsl.syntax import (
    Attribute,
    Binary,
    Block,
    Body,
    Boolean,
    Call,
    Conditional,
    Expression,
    File,
    Invalid,
    ListValue,
    Null,
    Number,
    ObjectValue,
    Reference,
    String,
    Unary,
)


def dump_tree(file: File) -> str:
    """The syntax tree, one node a line, each with its place."""
    lines: list[str] = []
    _body(file.body, 0, lines)
    lines.extend(f"comment {_place(comment.span)} {comment.text!r}" for comment in file.comments)
    return "\n".join(lines) + "\n"


def _body(body: Body, depth: int, lines: list[str]) -> None:
    pad = "  " * depth
    if body.damaged:
        lines.append(f"{pad}(items were lost here)")
    for item in body.items:
        if isinstance(item, Attribute):
            lines.append(f"{pad}attribute {item.name.text} {_place(item.span)}")
            _value(item.value, depth + 1, lines)
        else:
            _block(item, depth, lines)


def _block(block: Block, depth: int, lines: list[str]) -> None:
    labels = " ".join(repr(label.text) if label.valid else "?" for label in block.labels)
    lines.append(f"{'  ' * depth}block {' '.join(filter(None, (block.type.text, labels)))} {_place(block.span)}")
    _body(block.body, depth + 1, lines)


def _value(  # noqa: C901, PLR0912 - one case a kind of expression
    value: Expression, depth: int, lines: list[str]
) -> None:
    pad, place = "  " * depth, _place(value.span)
    match value:
        case String(text) | Number(text) | Boolean(text):
            lines.append(f"{pad}{type(value).__name__.lower()} {text!r} {place}")
        case Null() | Invalid():
            lines.append(f"{pad}{type(value).__name__.lower()} {place}")
        case Reference():
            lines.append(f"{pad}reference {' . '.join(part.text for part in value.parts)} {place}")
        case ListValue(items):
            lines.append(f"{pad}list {place}")
            for item in items:
                _value(item, depth + 1, lines)
        case ObjectValue(items):
            lines.append(f"{pad}object {place}")
            for pair in items:
                lines.append(f"{pad}  key {pair.key.text!r} {_place(pair.key.span)}")
                _value(pair.value, depth + 2, lines)
        case Call(function, arguments):
            lines.append(f"{pad}call {function.text} {place}")
            for argument in arguments:
                _value(argument, depth + 1, lines)
        case Unary(operator, operand):
            lines.append(f"{pad}unary {operator} {place}")
            _value(operand, depth + 1, lines)
        case Binary(operator, left, right):
            lines.append(f"{pad}binary {operator} {place}")
            _value(left, depth + 1, lines)
            _value(right, depth + 1, lines)
        case Conditional(condition, then, otherwise):
            lines.append(f"{pad}conditional {place}")
            for part in (condition, then, otherwise):
                _value(part, depth + 1, lines)


def _place(span: Span) -> str:
    (line, column), (last, end) = span.source.position(span.start), span.source.position(span.end)
    return f"@{line}:{column}-{last}:{end}"


def dump_model(scenario: Scenario, root: Path) -> str:
    """The checked scenario as YAML; paths are relative to `root`, the folder of the scenario's file."""
    data = _plain(scenario, root)
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120, default_flow_style=False)
    return text


def _plain(value: Any, root: Path) -> Any:  # noqa: PLR0911 - one case a kind of value
    match value:
        case Span():
            origin = value.origin
            return f"{origin.file}:{origin.line}:{origin.column}"
        case FaultKind():
            return value.kind
        case DeclaredObject():
            ref = value.ref
            return {
                "kind": ref.kind,
                "name": ref.name,
                "namespace": ref.namespace,
                "at": _plain(value.span, root),
                "manifest": _plain(value.manifest, root),
            }
        case Path():
            return os.path.relpath(value, root).replace(os.sep, "/")
        case Mapping():
            entries: dict[str, Any] = {str(key): item for key, item in value.items()}
            return {key: _plain(entries[key], root) for key in sorted(entries)}
        case frozenset():
            return sorted(_plain(item, root) for item in value)
        case tuple() | list():
            return [_plain(item, root) for item in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {
                "at" if field.name == "span" else field.name: _plain(getattr(value, field.name), root)
                for field in dataclasses.fields(value)
            }
        case _:
            return value
