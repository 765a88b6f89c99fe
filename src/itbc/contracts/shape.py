"""What all contracts have in common: strict, frozen, deterministic JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec


class Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON object of a contract. Unknown fields are refused, so versions can't drift silently."""


ShapeT = TypeVar("ShapeT", bound=Shape)


class Origin(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The place in an `.itb` file that something comes from.

    `file` is relative to the folder of the scenario's own file, with `/`;
    `line` and `column` count from 1.
    """

    file: str
    line: int
    column: int


class ContractError(Exception):
    """A file doesn't have the shape its contract says. The message names the file and the JSON path."""


class Unwritten(ContractError):  # noqa: N818 - the name is the fact
    """A file couldn't be written: what was there before, if anything, still is. The message names it and the reason."""


def to_json(shape: Shape) -> bytes:
    """The one byte form of a shape: sorted keys, two spaces, a final newline."""
    return msgspec.json.format(msgspec.json.encode(shape, order="deterministic"), indent=2) + b"\n"


def from_json(data: bytes, kind: type[ShapeT], name: str = "input") -> ShapeT:
    """Read a shape. Raises ContractError when the bytes aren't that shape."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError) as wrong:
        raise ContractError(f"{name}: not a {kind.__name__}: {wrong}") from wrong


def write(path: Path, shape: Shape) -> None:
    """Write a shape so that a reader sees the old file or the whole new one, never half. Raises Unwritten."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(to_json(shape))
        part.replace(path)
    except OSError as wrong:
        part.unlink(missing_ok=True)
        raise Unwritten(f"{path} can't be written: {wrong.strerror}") from wrong


def read(path: Path, kind: type[ShapeT]) -> ShapeT:
    """Read a shape from a file. Raises ContractError for a wrong or missing file."""
    try:
        data = path.read_bytes()
    except OSError as wrong:
        raise ContractError(f"{path}: {wrong.strerror}") from wrong
    return from_json(data, kind, str(path))


def to_builtins(shape: Shape) -> dict[str, Any]:
    """A shape as plain dicts, lists and scalars, as its JSON would be read."""
    plain: dict[str, Any] = msgspec.to_builtins(shape)
    return plain


def from_builtins(plain: Any, kind: type[ShapeT], name: str = "input") -> ShapeT:
    """Read a shape from plain dicts, lists and scalars. Raises ContractError when they aren't that shape."""
    try:
        return msgspec.convert(plain, type=kind)
    except msgspec.ValidationError as wrong:
        raise ContractError(f"{name}: not a {kind.__name__}: {wrong}") from wrong
