"""Text from outside, made harmless to the eye. Making it harmless to the browser is the template engine's business.

Whatever an agent, an application or a scenario's author wrote can hold terminal
escapes, control characters and marks that turn the reading direction around.
Colours are dropped as a terminal would swallow them; everything else that can't
be seen is shown by its number, so that it can be seen.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|\x1b[()*+][0-9A-B]"  # character sets
)
_JOINERS = "\u200c\u200d"
"""Scripts and emoji need these, and alone they do no harm."""


def clean(text: str) -> str:
    """The text without terminal escapes, its invisible characters shown as `⟨U+202E⟩`."""
    plain = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if plain.isprintable():
        return plain
    return "".join(each if _is_seen(each) else f"⟨U+{ord(each):04X}⟩" for each in plain)


def _is_seen(character: str) -> bool:
    return (
        character.isprintable()
        or character in "\n\t"
        or character in _JOINERS
        or unicodedata.category(character) == "Zs"
    )


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning and the end of a long text; `omitted` says how many bytes are missing between the two."""

    head: str
    omitted: int = 0
    tail: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self.head and not self.omitted


def excerpt(path: Path, start: int, length: int, most: int) -> Excerpt:
    """At most `most` bytes of a stretch of a file, a quarter from its beginning and the rest from its end."""
    try:
        with path.open("rb") as file:
            length = max(0, min(length, file.seek(0, 2) - start))
            file.seek(start)
            if length <= most:
                return Excerpt(_decoded(file.read(length)))
            first = most // 4
            head = file.read(first)
            file.seek(start + length - (most - first))
            return Excerpt(_decoded(head), length - most, _decoded(file.read(most - first)))
    except OSError:
        return Excerpt("")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
