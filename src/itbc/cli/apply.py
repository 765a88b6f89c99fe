"""`itbc apply`: a scenario's environment, healthy."""

from __future__ import annotations

from pathlib import Path

import click

from itbc.cli.compiling import compiled
from itbc.cli.leftovers import tell_remaining
from itbc.cli.masking import mask_option, masks_for
from itbc.cli.wholerun import attempt, exit_code
from itbc.cli.workshop import collect_garbage, desk, show_failure, signals_of
from itbc.runner import session
from itbc.runner.steps.provision import ProvisionOutput


@click.command()
@click.argument("scenario", type=click.Path(exists=True, path_type=Path))
@click.option("--target", default="embedded", show_default=True, help="Where the environment will stand.")
@click.option("--keep", is_flag=True, help="Leave what stands even where it doesn't get healthy, to look at it.")
@mask_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the run's random choices.")
def command(*, scenario: Path, target: str, keep: bool, masks: tuple[str, ...], seed: int) -> int:
    """Bring up the environment of SCENARIO (a file, its folder, or compiled artefacts), and see it healthy.

    Prints the run's name, by which `inject` and `destroy` know it. What stands is removed by `itbc gc` once it has
    expired, 12 hours from now. Exit code 4 where it doesn't get healthy; then everything is taken down again.

    Example: itbc apply scenarios/sre/checkout-wrong-payment-address
    """
    with compiled(scenario, target) as artefacts, desk(artefacts.manifest.target, signals_of(artefacts)) as place:
        hidden = masks_for(masks, artefacts.environment)
        collect_garbage(place.workshop, place.progress.say)
        with session.new_run(place.workshop, artefacts, "none", seed, hidden) as life:
            run = life.around.run
            place.progress.say(f"run {run.name}")
            ended = None
            healthy = False
            try:
                healthy = attempt(life, life.bring_up)
            finally:
                if healthy or (keep and not place.workshop.patience.stop.is_set()):
                    session.keep(life)
                else:
                    ended = life.take_down()
                    life.over()
                    session.close(life)
            life.journal.saved()
            record = life.journal.record()
            known = life.journal.output("provision", ProvisionOutput)
            clusters = life.around.environment.clusters
        show_failure(record, place.console)
    if not healthy or known is None:
        if ended is not None:
            tell_remaining(run.name, ended)
        return exit_code(record, ended)
    click.echo(f"run {run.name} stands, healthy, until {record.expires}")
    for cluster in clusters:
        click.echo(f"cluster {cluster.name}:")
        click.echo(f"  export KUBECONFIG={known.value(cluster.kubeconfig)}")
        click.echo(f"  Prometheus    {known.value(cluster.prometheus)}")
        click.echo(f"  Alertmanager  {known.value(cluster.alertmanager)}")
        for signal, title in (("traces", "Jaeger"), ("logs", "VictoriaLogs")):
            if signal in cluster.signals:
                click.echo(f"  {title:<13} {known.value(cluster.signals[signal])}")
    click.echo(f"next: itbc inject {run.name}, or itbc destroy {run.name}")
    return 0
