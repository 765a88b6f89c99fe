"""Source files and places in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from itbc.contracts.shape import Origin


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The text of one `.itb` file.

    `name` is how messages call it (as the user wrote it); `relative` is its
    path from the folder of the scenario's own file, which is what goes into
    artefacts, so that they don't depend on where the checkout lies.
    """

    name: str
    text: str
    relative: PurePosixPath = field(default_factory=PurePosixPath)
    _starts: list[int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        object.__setattr__(self, "_starts", starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (from 1) without its newline."""
        start = self._starts[number - 1]
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source file: character offsets, `end` not included."""

    source: SourceFile
    start: int
    end: int

    @property
    def origin(self) -> Origin:
        """The place as it goes into artefacts."""
        line, column = self.source.position(self.start)
        return Origin(file=str(self.source.relative), line=line, column=column)

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.source.text[self.start : self.end]
