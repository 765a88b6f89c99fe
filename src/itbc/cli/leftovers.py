"""Says what couldn't be removed and how to get rid of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from itbc.runner.steps.destroying import DestroyingOutput


def counted(things: Sequence[str]) -> str:
    """Things of a kind and how many, for a line: `1 embedded-cluster, 12 kubernetes-object`."""
    kinds = Counter(thing.split(" ", 1)[0] for thing in things)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "nothing"


def tell_remaining(run: str, ended: DestroyingOutput) -> None:
    """Print to stderr what a destruction left; nothing where nothing was left."""
    if not ended.remaining:
        return
    click.echo(f"error: not everything of run {run} could be removed:", err=True)
    click.echo(f"  {counted(ended.remaining)}", err=True)
    for problem in dict.fromkeys(ended.problems):
        click.echo(f"  because: {problem}", err=True)
    click.echo(f"  help: try again with `itbc destroy {run}` or `itbc gc`", err=True)
