"""`itbc destroy`: a run's environment goes."""

from __future__ import annotations

import click

from itbc.cli.exits import Exit
from itbc.cli.leftovers import tell_remaining
from itbc.cli.workshop import desk
from itbc.runner import session


@click.command()
@click.argument("run")
def command(run: str) -> int:
    """Take down the environment of RUN, in whatever state it is. May be called any number of times.

    Exit code 4 where something is left, which is named then.

    Example: itbc destroy 20261201-101500-ab12
    """
    with desk() as place, session.open_run(place.workshop, run) as life:
        ended = life.take_down()
        life.over()
        session.close(life)
        life.journal.saved()
    for thing in ended.swept:
        click.echo(f"removed by the ledger: {thing}")
    if ended.remaining:
        tell_remaining(run, ended)
        return Exit.OUTSIDE
    click.echo(f"nothing is left of run {run}")
    return Exit.FINE
