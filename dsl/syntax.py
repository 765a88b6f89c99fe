"""The syntax tree: what a file says, with the place of every part, before anything is known about its meaning.

A part that couldn't be read is an `Invalid` value, an invalid label or a
`damaged` body, so that later stages neither lose the rest of the file nor
complain a second time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from itbc.dsl.source import SourceFile, Span


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier as written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class String:
    """A quoted string; `value` has its escapes replaced."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class Number:
    """A number: int where it is written without fraction and exponent, else float."""

    value: int | float
    span: Span


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    value: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Null:
    """`null`."""

    span: Span


@dataclass(frozen=True, slots=True)
class ListValue:
    """`[…]`."""

    items: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ObjectItem:
    """`key = value` in an object value."""

    key: Name
    value: Expression


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """`{…}` as a value."""

    items: tuple[ObjectItem, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """`a`, `a.b.c` or `a.b["c"]`: a keyword or a name, the schema says which."""

    parts: tuple[Name, ...]
    span: Span

    @property
    def text(self) -> str:
        """The dotted form."""
        return ".".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`."""

    function: Name
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x` or `!x`."""

    operator: str
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`."""

    operator: str
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Invalid:
    """A value that couldn't be read; it has been reported."""

    span: Span


Expression: TypeAlias = (
    String
    | Number
    | Boolean
    | Null
    | ListValue
    | ObjectValue
    | Reference
    | Call
    | Unary
    | Binary
    | Conditional
    | Invalid
)


@dataclass(frozen=True, slots=True)
class Label:
    """A block's label; not `valid` where it couldn't be read (which has been reported)."""

    text: str
    span: Span
    valid: bool = True


@dataclass(frozen=True, slots=True)
class Attribute:
    """`name = value`."""

    name: Name
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    """`type "label" { body }`; `header` spans type and labels."""

    type: Name
    labels: tuple[Label, ...]
    body: Body
    header: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Body:
    """The items of a block or a file in order; `damaged` where items were lost to syntax errors."""

    items: tuple[Attribute | Block, ...]
    span: Span
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its marks."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class File:
    """A whole file; `damaged` where anything in it had a syntax error."""

    source: SourceFile
    body: Body
    comments: tuple[Comment, ...]
    damaged: bool
