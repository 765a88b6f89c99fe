"""Diagnostics: what is wrong, where, why and what to do about it.

Stages report into a `Sink` and go on; nothing a user can get wrong raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from itbc.dsl.source import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of diagnostic. `headline` names nothing of the user's; `slug` is the kind's readable name."""

    id: str
    slug: str
    severity: Severity
    headline: str


@dataclass(frozen=True, slots=True)
class Label:
    """A place and what is to be said about it; the primary one is where the mistake is."""

    span: Span
    message: str
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a stretch of a file."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that can be made by a program; `title` says what it does."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message. The first label is the primary one."""

    code: Code
    labels: tuple[Label, ...]
    notes: tuple[str, ...] = ()
    help: str = ""
    fix: Fix | None = None

    @property
    def span(self) -> Span:
        """Where the mistake is."""
        return self.labels[0].span


class Sink:
    """Collects diagnostics. The same message about the same place is kept once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, int, int, str], Diagnostic] = {}
        self._errors = 0

    def report(
        self,
        code: Code,
        span: Span,
        message: str,
        *,
        secondary: Sequence[tuple[Span, str]] = (),
        notes: Sequence[str] = (),
        help: str = "",  # noqa: A002 - the word the output uses
        fix: Fix | None = None,
    ) -> None:
        """Add a diagnostic; `message` is what its primary label says."""
        labels = (Label(span, message, primary=True), *(Label(where, what) for where, what in secondary))
        self.add(Diagnostic(code, labels, tuple(notes), help, fix))

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic."""
        span = diagnostic.span
        key = (span.source.name, diagnostic.code.id, span.start, span.end, diagnostic.labels[0].message)
        if key not in self._found:
            self._found[key] = diagnostic
            if diagnostic.code.severity == "error":
                self._errors += 1

    @property
    def errors(self) -> int:
        """How many errors there are so far (warnings aside)."""
        return self._errors

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics by file, place and code, whatever order they were found in."""
        return tuple(found for _, found in sorted(self._found.items(), key=lambda pair: _order(pair[0])))


def _order(key: tuple[str, str, int, int, str]) -> tuple[str, int, int, str, str]:
    file, code, start, end, message = key
    return file, start, end, code, message


def replace(span: Span, text: str) -> Fix:
    """The fix that puts `text` in place of a span."""
    return Fix(f"replace `{span.text}` by `{text}`" if span.text else f"insert `{text}`", (Edit(span, text),))


def nearest(wrong: str, known: Sequence[str]) -> str | None:
    """The known name most like a wrong one, or None where none is near."""
    lowered: dict[str, str] = {}
    for name in sorted(known):
        lowered.setdefault(name.lower(), name)
    found = get_close_matches(wrong.lower(), list(lowered), n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def listing(names: Sequence[str], *, limit: int = 12) -> str:
    """Names in backquotes, sorted, cut to a readable number."""
    ordered = sorted(set(names))
    shown = ", ".join(f"`{name}`" for name in ordered[:limit])
    return f"{shown} and {len(ordered) - limit} more" if len(ordered) > limit else shown
