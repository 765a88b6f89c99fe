"""`itbc doctor`: what this machine lacks."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table

from itbc.cli import assembly
from itbc.cli.exits import Exit

SIGNS = {"ok": "[green]✓[/green]", "warning": "[yellow]![/yellow]", "missing": "[red]✗[/red]"}


@click.command()
@click.option("--target", default="embedded", show_default=True, help="The target that environments will stand on.")
def command(target: str) -> int:
    """Say what this machine has and lacks for a target, and what to do about it. Nothing is started or changed.

    Exit code 4 where something is missing.

    Example: itbc doctor --target embedded
    """
    findings = assembly.preflight(target)
    table = Table(box=None, show_header=False, pad_edge=False)
    for each in findings:
        table.add_row(SIGNS[each.level], each.name, each.detail)
        if each.level != "ok" and each.remedy:
            table.add_row("", "", f"→ {each.remedy}")
    Console(highlight=False).print(table)
    return Exit.OUTSIDE if any(each.level == "missing" for each in findings) else Exit.FINE
