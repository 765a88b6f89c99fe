"""The typed schema's own words: what blocks, labels, attributes and values there can be.

The schema is data (the other modules of this package): the checker, the reference in `docs/spec.md` and, later,
editor help are all made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted string; `kind` says what it must look like.

    `query` is PromQL, `name` a Kubernetes name (DNS label), `path` a path relative to the file it is written in,
    `date` is YYYY-MM-DD, `word` has no spaces.
    """

    kind: Literal["text", "query", "name", "path", "date", "word", "mode"] = "text"


@dataclass(frozen=True, slots=True)
class NumberType:
    """A number. The bounds are allowed values, `above` isn't."""

    integer: bool = False
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None


@dataclass(frozen=True, slots=True)
class BooleanType:
    """`true` or `false`."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A quoted duration such as `"1h30m"`; bounds in seconds, both allowed."""

    minimum: float = 0.001
    maximum: float = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quoted Kubernetes quantity such as `"8Gi"` or `"500m"`; bounds in bytes or cores."""

    of: Literal["memory", "cpu"] = "memory"
    minimum: float = 0


@dataclass(frozen=True, slots=True)
class Keyword:
    """One of a few bare words; each with what it means."""

    words: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReferenceType:
    """A name of something declared elsewhere, in one of several forms.

    In a form, capital words stand for names of the user's: `cluster.CLUSTER.KIND.OBJECT`.
    """

    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FaultName:
    """The dotted name of an entry of the fault catalogue."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, b]` of values of one type."""

    item: ValueType
    minimum: int = 1
    unique: bool = True


@dataclass(frozen=True, slots=True)
class MapOf:
    """`{ key = value }` with keys of the user's."""

    value: ValueType
    key: str = "name"


@dataclass(frozen=True, slots=True)
class Either:
    """A value of one of several types."""

    types: tuple[ValueType, ...]


@dataclass(frozen=True, slots=True)
class Anything:
    """Any constant value; what it must be is known elsewhere (the fault catalogue, the application)."""


ValueType: TypeAlias = (
    Text
    | NumberType
    | BooleanType
    | Duration
    | Quantity
    | Keyword
    | ReferenceType
    | FaultName
    | ListOf
    | MapOf
    | Either
    | Anything
)


@dataclass(frozen=True, slots=True)
class AttributeSchema:
    """An attribute of a block.

    `default` is how the reference page shows what holds where it is left out;
    `checked` is False where its meaning isn't checked and compiled yet.
    """

    name: str
    type: ValueType
    doc: str
    required: bool = False
    default: str = ""
    checked: bool = True


LabelKind = Literal["name", "alert", "identifier", "path", "word"]


@dataclass(frozen=True, slots=True)
class LabelSchema:
    """A block's label: how the reference page calls it and what it may look like."""

    name: str
    kind: LabelKind
    doc: str


@dataclass(frozen=True, slots=True)
class Nested:
    """A block inside a block: at least `minimum`, at most `maximum` times (None: any number)."""

    block: BlockSchema
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class BlockSchema:
    """A block type.

    `open_doc` is set where attributes other than the listed ones are allowed (they are checked elsewhere).
    `exclusive` names sets of attributes of which exactly one must be given. `checked` is False for blocks whose
    meaning isn't checked and compiled yet.
    """

    type: str
    doc: str
    labels: tuple[LabelSchema, ...] = ()
    attributes: tuple[AttributeSchema, ...] = ()
    blocks: tuple[Nested, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    open_doc: str = ""
    checked: bool = True
    _attributes: dict[str, AttributeSchema] = field(
        default_factory=dict[str, AttributeSchema], repr=False, compare=False
    )

    def __post_init__(self) -> None:
        self._attributes.update({attribute.name: attribute for attribute in self.attributes})

    def attribute(self, name: str) -> AttributeSchema | None:
        """The attribute of this name, if there is one."""
        return self._attributes.get(name)

    def nested(self, kind: str) -> Nested | None:
        """The nested block of this type, if there is one."""
        return next((nested for nested in self.blocks if nested.block.type == kind), None)
