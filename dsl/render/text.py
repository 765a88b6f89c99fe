"""Diagnostics as text: the source lines, what is wrong under them, why, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len, chop_cells

from itbc.dsl.diagnostics import Diagnostic, Label
from itbc.dsl.source import SourceFile

Style = Callable[[str, str], str]
"""Colours a text: `style(text, role)` with a role of `error`, `warning`, `secondary`, `frame`, `bold`, `help`."""

TAB = "    "
WIDEST = 150
"""Longer source lines are cut to this many cells around the place that is meant."""

_LEAD = 40


def plain(text: str, role: str) -> str:
    """No colours."""
    del role
    return text


def render(diagnostics: Sequence[Diagnostic], style: Style = plain) -> str:
    """All diagnostics, an empty line between them, and a last line that counts them. Empty where there are none."""
    if not diagnostics:
        return ""
    blocks = [_one(diagnostic, style) for diagnostic in diagnostics]
    return "\n\n".join([*blocks, summary(diagnostics, style)]) + "\n"


def summary(diagnostics: Sequence[Diagnostic], style: Style = plain) -> str:
    """How many errors and warnings there are in how many files."""
    errors = sum(diagnostic.code.severity == "error" for diagnostic in diagnostics)
    warnings = len(diagnostics) - errors
    files = len({diagnostic.span.source.name for diagnostic in diagnostics})
    counts = [_count(errors, "error")] if errors else []
    counts += [_count(warnings, "warning")] if warnings else []
    line = f"{' and '.join(counts)} in {_count(files, 'file')}"
    return style(line, "error" if errors else "warning") + "; docs/diagnostics/ explains each code"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _one(diagnostic: Diagnostic, style: Style) -> str:
    return "\n".join(_Picture(diagnostic, style).lines())


class _Picture:
    """One diagnostic as lines; `gutter` is the width of its line numbers."""

    def __init__(self, diagnostic: Diagnostic, style: Style) -> None:
        self.diagnostic = diagnostic
        self.style = style
        last = max(label.span.source.position(label.span.start)[0] for label in diagnostic.labels)
        self.gutter = len(str(last))
        self.blank = " " * self.gutter
        self.bar = style("|", "frame")

    def lines(self) -> list[str]:
        code = self.diagnostic.code
        out = [self.style(f"{code.severity}[{code.id}]", code.severity) + self.style(f": {code.headline}", "bold")]
        for index, source in enumerate(dict.fromkeys(label.span.source for label in self.diagnostic.labels)):
            labels = [label for label in self.diagnostic.labels if label.span.source == source]
            out += self._snippet(source, labels, "-->" if index == 0 else ":::")
        out += [self._remark("note", note) for note in self.diagnostic.notes]
        fix = self.diagnostic.fix
        remedy = self.diagnostic.help or (fix.title if fix is not None else "")
        return [*out, self._remark("help", remedy)] if remedy else out

    def _remark(self, role: str, text: str) -> str:
        return f"{self.blank} {self.style('=', 'frame')} {self.style(f'{role}:', 'bold')} {_shown(text)}"

    def _snippet(self, source: SourceFile, labels: Sequence[Label], arrow: str) -> list[str]:
        line, column = source.position(labels[0].span.start)
        out = [f"{self.blank}{self.style(arrow, 'frame')} {_shown(source.name)}:{line}:{column}"]
        if not source.text:
            return [*out, f"{self.blank} {self.style('=', 'frame')} {_shown(labels[0].message)}"]
        out.append(f"{self.blank} {self.bar}")
        by_line: dict[int, list[Label]] = {}
        for label in labels:
            by_line.setdefault(source.position(label.span.start)[0], []).append(label)
        before: int | None = None
        for number in sorted(by_line):
            if before is not None and number == before + 2:
                out.append(self._numbered(before + 1, _cut(_shown(source.line(before + 1)), 0)[0]))
            elif before is not None and number > before + 2:
                out.append(self.style("." * max(self.gutter, 3), "frame"))
            out += self._line(source, number, by_line[number])
            before = number
        return out

    def _numbered(self, number: int, text: str) -> str:
        return f"{self.style(f'{number:>{self.gutter}}', 'frame')} {self.bar} {text}".rstrip()

    def _line(self, source: SourceFile, number: int, labels: Sequence[Label]) -> list[str]:
        """A source line with what is said about places in it, the primary place first."""
        text = source.line(number)
        begin = min(source.position(label.span.start)[1] for label in labels) - 1
        shown, cut = _cut(_shown(text), cell_len(_shown(text[:begin])))
        out = [self._numbered(number, shown)]
        for label in sorted(labels, key=lambda one: (not one.primary, one.span.start)):
            first = source.position(label.span.start)[1] - 1
            last = min(first + label.span.end - label.span.start, len(text))
            start = max(0, cell_len(_shown(text[:first])) - cut)
            width = max(1, min(cell_len(_shown(text[first:last])), WIDEST - start))
            mark = ("^" if label.primary else "-") * width
            role = self.diagnostic.code.severity if label.primary else "secondary"
            said = self.style(f"{mark} {_shown(label.message)}", role)
            out.append(f"{self.blank} {self.bar} {' ' * start}{said}".rstrip())
        return out


def _cut(shown: str, place: int) -> tuple[str, int]:
    """The part of a long line around a place (in cells), and how many cells of its beginning are gone."""
    if cell_len(shown) <= WIDEST:
        return shown, 0
    cut = 0
    if place > WIDEST - _LEAD:
        head = chop_cells(shown, place - _LEAD)[0]
        cut = cell_len(head) - 1
        shown = "…" + shown[len(head) :]
    if cell_len(shown) > WIDEST:
        shown = chop_cells(shown, WIDEST - 1)[0] + "…"
    return shown, cut


def _shown(text: str) -> str:
    """A text as it can be put on a terminal: tabs as spaces, what can't be seen as its number."""
    if text.isprintable():
        return text
    return "".join(TAB if char == "\t" else char if char.isprintable() else f"⟨{ord(char):04x}⟩" for char in text)
