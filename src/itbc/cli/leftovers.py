"""Says what couldn't be removed and how to get rid of it."""

from __future__ import annotations

import click

from itbc.runner.steps.destroying import DestroyingOutput


def tell_remaining(run: str, ended: DestroyingOutput) -> None:
    """Print to stderr what a destruction left; nothing where nothing was left."""
    if not ended.remaining:
        return
    click.echo(f"error: not everything of run {run} could be removed:", err=True)
    for thing in ended.remaining:
        click.echo(f"  {thing}", err=True)
    for problem in ended.problems:
        click.echo(f"  because: {problem}", err=True)
    click.echo(f"  help: try again with `itbc destroy {run}` or `itbc gc`", err=True)
