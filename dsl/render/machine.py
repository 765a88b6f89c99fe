"""Diagnostics as JSON, in a versioned shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from itbc.dsl.diagnostics import Diagnostic, Edit, Fix, Label
from itbc.dsl.source import SourceFile, Span


class Position(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place: `line` and `column` count from 1, `offset` (in characters) from 0."""

    line: int
    column: int
    offset: int


class Place(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stretch of a file; `end` isn't included."""

    file: str
    start: Position
    end: Position


class MachineLabel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place and what is said about it."""

    place: Place
    message: str
    primary: bool


class MachineEdit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Put `replacement` where `place` is."""

    place: Place
    replacement: str


class MachineFix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change that a program can make."""

    title: str
    edits: list[MachineEdit]


class MachineDiagnostic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One diagnostic; the first label is the primary one."""

    code: str
    slug: str
    severity: Literal["error", "warning"]
    headline: str
    labels: list[MachineLabel]
    notes: list[str]
    help: str
    fix: MachineFix | None


class Report(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All diagnostics of a run; `checked` has a line about each file in which there was no error."""

    version: Literal["itbc.diagnostics/1"] = "itbc.diagnostics/1"
    errors: int
    warnings: int
    diagnostics: list[MachineDiagnostic]
    checked: list[str] = []


def report(diagnostics: Sequence[Diagnostic], checked: Sequence[str] = ()) -> Report:
    """The JSON shape of some diagnostics."""
    errors = sum(diagnostic.code.severity == "error" for diagnostic in diagnostics)
    return Report(
        errors=errors,
        warnings=len(diagnostics) - errors,
        diagnostics=[_diagnostic(one) for one in diagnostics],
        checked=list(checked),
    )


def render(diagnostics: Sequence[Diagnostic], checked: Sequence[str] = ()) -> str:
    """The JSON text: sorted keys, two spaces, a final newline."""
    data = msgspec.json.encode(report(diagnostics, checked), order="sorted")
    return msgspec.json.format(data, indent=2).decode() + "\n"


def _diagnostic(one: Diagnostic) -> MachineDiagnostic:
    return MachineDiagnostic(
        code=one.code.id,
        slug=one.code.slug,
        severity=one.code.severity,
        headline=one.code.headline,
        labels=[_label(label) for label in one.labels],
        notes=list(one.notes),
        help=one.help,
        fix=_fix(one.fix),
    )


def _label(label: Label) -> MachineLabel:
    return MachineLabel(place=_place(label.span), message=label.message, primary=label.primary)


def _fix(fix: Fix | None) -> MachineFix | None:
    return None if fix is None else MachineFix(title=fix.title, edits=[_edit(edit) for edit in fix.edits])


def _edit(edit: Edit) -> MachineEdit:
    return MachineEdit(place=_place(edit.span), replacement=edit.replacement)


def _place(span: Span) -> Place:
    return Place(file=span.source.name, start=_position(span.source, span.start), end=_position(span.source, span.end))


def _position(source: SourceFile, offset: int) -> Position:
    line, column = source.position(offset)
    return Position(line=line, column=column, offset=offset)
