"""What the structure check makes of a file: blocks with typed values, whatever could be understood of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from itbc.dsl.schema.types import BlockSchema
from itbc.dsl.source import Span
from itbc.dsl.syntax import Attribute, Label, Name


@dataclass(frozen=True, slots=True)
class Value:
    """A typed value.

    `data` is a str, a number (durations in seconds, quantities in bytes or cores), a bool, a `syntax.Reference`, a
    tuple of values (list) or a tuple of (key, value) pairs (map). `complete` is False where items of it were wrong and
    left out.
    """

    data: Any
    span: Span
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """A block with its values.

    `broken` names attributes that were given but couldn't be understood (which has been reported); `extras` are
    attributes that the schema leaves open. `damaged` says that items were lost to syntax errors: what seems to be
    missing may be there.
    """

    schema: BlockSchema
    labels: tuple[Label, ...]
    values: dict[str, Value]
    names: dict[str, Name]
    broken: frozenset[str]
    extras: tuple[Attribute, ...]
    blocks: tuple[Entry, ...]
    header: Span
    span: Span
    damaged: bool

    @property
    def label(self) -> str:
        """The first label, or empty."""
        return self.labels[0].text if self.labels else ""

    @property
    def label_span(self) -> Span:
        """Where the first label is, or the header where there is none."""
        return self.labels[0].span if self.labels else self.header

    def children(self, kind: str) -> list[Entry]:
        """All nested blocks of a type, in order."""
        return [block for block in self.blocks if block.schema.type == kind]

    def child(self, kind: str) -> Entry | None:
        """The first nested block of a type."""
        return next(iter(self.children(kind)), None)

    def value(self, name: str) -> Value | None:
        """The value of an attribute, or None where it isn't given or couldn't be understood."""
        return self.values.get(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The data of an attribute, or a default."""
        found = self.values.get(name)
        return default if found is None else found.data

    def items(self, name: str) -> tuple[Value, ...]:
        """The items of a list, none where it isn't given."""
        found = self.values.get(name)
        return () if found is None else found.data

    def pairs(self, name: str) -> tuple[tuple[Name, Value], ...]:
        """The pairs of a map, none where it isn't given."""
        found = self.values.get(name)
        return () if found is None else found.data
