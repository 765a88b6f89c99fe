"""`itbc gc`: what dead runs left behind goes."""

from __future__ import annotations

import os

import click

from itbc.cli.exits import Exit
from itbc.cli.leftovers import counted
from itbc.cli.workshop import collect_garbage, desk
from itbc.runner.home import Home
from itbc.runner.leftovers.reaper import dead_runs


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
def command(*, dry_run: bool) -> int:
    """Remove what runs left whose process is gone or whose time is over. A run that is worked on is never touched.

    Exit code 4 where something can't be removed.

    Example: itbc gc --dry-run
    """
    if dry_run and not Home.named(os.environ).ledgers.exists():
        # Without this, the desk would make the home.
        click.echo("nothing to remove")
        return Exit.FINE
    with desk() as place:
        if dry_run:
            found = list(dead_runs(place.workshop))
            for each in found:
                left = counted([f"{entry.kind} {entry.identity}" for entry in each.left])
                click.echo(f"run {each.run}: would remove {left}, because {each.why}")
            if not found:
                click.echo("nothing to remove")
            return Exit.FINE
        taken = collect_garbage(place.workshop, click.echo)
    if not taken:
        click.echo("nothing to remove")
    return Exit.OUTSIDE if any(each.remaining for each in taken) else Exit.FINE
