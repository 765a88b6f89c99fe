"""`itbc inject`: break a healthy environment."""

from __future__ import annotations

import click

from itbc.cli.exits import Exit
from itbc.cli.wholerun import attempt
from itbc.cli.workshop import desk, exit_of, show_failure
from itbc.runner import session
from itbc.runner.life import refuse_to_break
from itbc.runner.outside.prometheus import selector
from itbc.runner.steps.alerting import AlertingOutput


@click.command()
@click.argument("run")
def command(run: str) -> int:
    """Break the environment of RUN, prove it broken, and wait for its alerts.

    Exit code 4 where the injection can't be proven or an alert doesn't fire; the environment stays as it is then, to
    look at it. A run that was destroyed or injected before is left as it is: exit code 1.

    Example: itbc inject 20261201-101500-ab12
    """
    with desk() as place, session.open_run(place.workshop, run, refuse_to_break) as life:
        went_well = False
        try:
            went_well = attempt(life, life.break_down)
        finally:
            session.keep(life)
        life.journal.saved()
        record = life.journal.record()
        seen = life.journal.output("alerting", AlertingOutput)
        show_failure(record, place.console)
    if not went_well:
        return exit_of(record.failure) if record.failure else Exit.OUTSIDE
    for alert in seen.alerts if seen else ():
        click.echo(f"{selector(alert.name, alert.labels)} fired {alert.after_seconds:.1f} s after the injection")
    click.echo(f"next: itbc destroy {run}")
    return Exit.FINE
