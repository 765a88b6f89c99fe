"""What is declared where, and looking names up with suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink, listing, nearest, replace
from itbc.dsl.entries import Entry
from itbc.dsl.loading import Loaded
from itbc.dsl.source import Span

GLOBAL = ("application", "alert", "slo", "control", "corpus", "price_sheet")
"""The block types whose labels are names everywhere a file is imported."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared thing and the file it is in."""

    entry: Entry
    file: Loaded


class Names:
    """All global names of a scenario's files. With `damaged` files an unknown name may be one that couldn't be read."""

    def __init__(self, *, damaged: bool) -> None:
        self.damaged = damaged
        self._declared: dict[str, dict[str, Declaration]] = {kind: {} for kind in GLOBAL}

    def of(self, kind: str) -> dict[str, Declaration]:
        """Everything declared of a kind, by label, in the order it was read."""
        return self._declared[kind]

    def add(self, loaded: Loaded, sink: Sink) -> None:
        """Take up what a file declares; a name that is taken is reported."""
        for kind in GLOBAL:
            for entry in unique(loaded.entry.children(kind), sink, self._declared[kind]):
                self._declared[kind][entry.label] = Declaration(entry, loaded)

    def find(self, kind: str, name: str, place: Span, sink: Sink) -> Declaration | None:
        """The declaration of a name; reports where there is none, with the nearest one as a suggestion."""
        found = self._declared[kind].get(name)
        if found is not None:
            return found
        for other in GLOBAL:
            if name in self._declared[other] and other != kind:
                sink.report(
                    codes.WRONG_KIND_OF_NAME,
                    place,
                    f"`{name}` is {_a(other)}, not {_a(kind)}",
                    secondary=((self._declared[other][name].entry.label_span, "declared here"),),
                    help=f"name {_a(kind)}",
                )
                return None
        if not self.damaged:
            unknown(kind, name, place, list(self._declared[kind]), sink)
        return None


def unique(entries: Iterable[Entry], sink: Sink, taken: dict[str, Declaration] | None = None) -> list[Entry]:
    """The entries with distinct labels; a label that was there before (or in `taken`) is reported."""
    first: dict[str, Span] = {name: declaration.entry.label_span for name, declaration in (taken or {}).items()}
    kept: list[Entry] = []
    for entry in entries:
        if not entry.labels or not entry.labels[0].valid:
            continue
        if entry.label in first:
            sink.report(
                codes.DUPLICATE_NAME,
                entry.label_span,
                f"there is already {_a(entry.schema.type)} of this name",
                secondary=((first[entry.label], "declared first here"),),
                help="give one of them another name",
            )
            continue
        first[entry.label] = entry.label_span
        kept.append(entry)
    return kept


def unknown(kind: str, name: str, place: Span, known: Sequence[str], sink: Sink, *, where: str = "") -> None:
    """Report a name that nothing has."""
    near = nearest(name, known)
    if near:
        remedy = f"did you mean `{near}`?"
    elif known:
        remedy = f"there {'is' if len(known) == 1 else 'are'} {listing(known)}"
    else:
        remedy = f"declare {_a(kind)}, or import a file that does" if kind in GLOBAL else f"declare {_a(kind)}"
    sink.report(
        codes.UNKNOWN_NAME,
        place,
        f"there is no {kind} `{name}`{where}",
        help=remedy,
        fix=replace(place, f'"{near}"' if place.text.startswith('"') else near) if near else None,
    )


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
