"""Printing diagnostics, for any verb."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Literal

import click

from itbc.cli.exits import Exit
from itbc.dsl.diagnostics import Diagnostic, Sink
from itbc.dsl.render import machine, text

Form = Literal["text", "json"]

_STYLES: dict[str, dict[str, object]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "secondary": {"fg": "blue"},
    "frame": {"fg": "blue", "bold": True},
    "bold": {"bold": True},
}


def report(sink: Sink, *, form: Form = "text", to_stderr: bool = True, checked: Sequence[str] = ()) -> int:
    """Print what a sink holds; returns the exit code it means: 1 with errors, else 0.

    As text, `checked` is printed by whoever calls; as JSON it goes into the report.
    """
    diagnostics = sink.diagnostics
    if form == "json":
        click.echo(machine.render(diagnostics, checked), nl=False, err=to_stderr)
    elif diagnostics:
        click.echo(rendered(diagnostics, colour=_colour(to_stderr=to_stderr)), nl=False, err=to_stderr)
    return Exit.FAILED if sink.errors else Exit.FINE


def rendered(diagnostics: Sequence[Diagnostic], *, colour: bool) -> str:
    """The text of diagnostics."""
    return text.render(diagnostics, _coloured if colour else text.plain)


def _coloured(shown: str, role: str) -> str:
    return click.style(shown, **_STYLES.get(role, {}))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def _colour(*, to_stderr: bool) -> bool:
    stream = sys.stderr if to_stderr else sys.stdout
    return stream.isatty()
