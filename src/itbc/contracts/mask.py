"""A mask: what is kept from an agent's telemetry, of one kind, everything or one service's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

MaskKind = Literal["alerts", "events", "logs", "metrics", "topology", "traces"]
KINDS: tuple[MaskKind, ...] = get_args(MaskKind)
"""What can be masked."""

_BY_NAME: Mapping[str, MaskKind] = {kind: kind for kind in KINDS}

BY_SERVICE: frozenset[MaskKind] = frozenset({"logs", "metrics", "traces"})
"""What can be masked for single services too."""


class BadMask(ValueError):  # noqa: N818 - the name is the fact
    """A text is no mask. `help` says what would be one."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.help = remedy


@dataclass(frozen=True, slots=True, order=True)
class Mask:
    """Of `kind`, what comes from `service` is hidden; without one, all of it."""

    kind: MaskKind
    service: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.service}" if self.service else self.kind


def parse_mask(text: str) -> Mask:
    """`KIND` or `KIND:SERVICE`. Raises BadMask."""
    word, colon, service = text.partition(":")
    kind = _BY_NAME.get(word)
    if kind is None:
        raise BadMask(f"`{word}` isn't a kind of telemetry", f"write one of {', '.join(KINDS)}")
    if colon and not service:
        raise BadMask("no service follows the colon", f"write `{kind}` to mask all of it")
    if service and kind not in BY_SERVICE:
        raise BadMask(f"{kind} can't be masked for one service", f"write `{kind}` to mask all of it")
    return Mask(kind, service)


def joined(masks: Iterable[Mask]) -> str:
    """Masks as one text, separated by commas, in order."""
    return ",".join(str(each) for each in sorted(set(masks)))


def split(text: str) -> list[Mask]:
    """What `joined` put together. Raises BadMask."""
    return [parse_mask(each) for each in text.split(",") if each]
