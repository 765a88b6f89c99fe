"""`itbc run`: one scenario's whole life with an agent."""

from __future__ import annotations

import math
from pathlib import Path

import click
from rich.console import Console

from itbc.cli.compiling import compiled, hiding_places, secrets
from itbc.cli.exits import Exit, ExitError
from itbc.cli.granting import granted, granting
from itbc.cli.leftovers import tell_remaining
from itbc.cli.masking import mask_option, masks_for
from itbc.cli.wholerun import Circumstances, exit_code, live
from itbc.cli.workshop import collect_garbage, desk, signals_of
from itbc.results.summary import render
from itbc.runner.agents import UnknownAgent, check_mutant, command_of
from itbc.runner.artefacts import Artefacts
from itbc.runner.life import Assignment
from itbc.runner.sandbox.limits import Limits
from itbc.runner.sandbox.network import Address
from itbc.runner.session import LIFETIME

LONGEST = LIFETIME.total_seconds()
"""The longest time that an agent can have, in seconds: what stands is removed after that."""


def number(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    """Refuse NaN, which is in every range. Raises BadParameter."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not a number.")
    return value


@click.command()
@click.argument("scenario", type=click.Path(exists=True, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--agent",
    required=True,
    help="noop, solution, mutant:NAME, a cheat, `command` (then -- COMMAND LINE), a program, `mcp`: docs/agents.md.",
)
@click.option("--target", default="embedded", show_default=True, help="Where the environment will stand.")
@click.option("--keep", is_flag=True, help="Leave the environment standing; `itbc destroy RUN` takes it down.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1, max=LONGEST),
    callback=number,
    help="The agent's time in seconds, instead of the scenario's.",
)
@click.option(
    "--agent-memory",
    type=click.IntRange(min=64, max=1 << 20),
    default=Limits().memory >> 20,
    show_default=True,
    help="How much memory the agent may use, in MiB; its files count too.",
)
@click.option(
    "--agent-cpus",
    type=click.FloatRange(min=0.1, max=1024),
    callback=number,
    default=Limits().cpus,
    show_default=True,
    help="How many processors' time the agent may use.",
)
@click.option(
    "--agent-processes",
    type=click.IntRange(min=16, max=1 << 20),
    default=Limits().processes,
    show_default=True,
    help="How many processes and threads the agent may have.",
)
@granting
@mask_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the run's random choices.")
def command(
    *,
    scenario: Path,
    arguments: tuple[str, ...],
    agent: str,
    target: str,
    keep: bool,
    timeout: float | None,
    agent_memory: int,
    agent_cpus: float,
    agent_processes: int,
    agent_env: tuple[str, ...],
    agent_net: tuple[Address, ...],
    masks: tuple[str, ...],
    seed: int,
) -> int:
    """Live the whole life of SCENARIO (a file, its folder, or compiled artefacts) with an agent, and score it.

    The environment is destroyed at the end, whatever happens; Ctrl-C stops early and destroys too. Exit code 0: scored
    and passed, 1: scored and not passed, 4: something outside of the agent failed, so that there is no score.

    Example: itbc run scenarios/sre/checkout-wrong-payment-address --agent noop

    Example: itbc run scenarios/sre/checkout-wrong-payment-address --agent command -- ./my-agent --verbose

    Example: itbc run scenarios/sre/checkout-wrong-payment-address --agent-env MODEL_API_KEY
    --agent-net api.example.com:443 --agent ./my-agent
    """
    try:
        line = command_of(agent, arguments)
    except UnknownAgent as wrong:
        raise ExitError(Exit.USAGE, str(wrong)) from wrong
    grants = granted(agent_env, agent_net, line)
    with compiled(scenario, target) as artefacts, desk(artefacts.manifest.target, signals_of(artefacts)) as place:
        _known(agent, artefacts)
        hidden = masks_for(masks, artefacts.environment)
        collect_garbage(place.workshop, place.progress.say)
        task = artefacts.environment.task
        assignment = Assignment(
            agent=agent,
            command=line,
            seconds=timeout or task.within_seconds,
            hidden=hiding_places(scenario),
            secret=[*secrets(scenario), artefacts.folder],
            limits=Limits(agent_memory << 20, agent_cpus, agent_processes),
            variables=grants.variables,
            addresses=grants.addresses,
        )
        lived = live(place, artefacts, assignment, Circumstances(seed, hidden), keep=keep)
    render(lived.run, Console(highlight=False))
    if lived.ended is not None:
        tell_remaining(lived.run.record.run, lived.ended)
    return exit_code(lived.run.record, lived.ended)


def _known(agent: str, artefacts: Artefacts) -> None:
    try:
        check_mutant(agent, [each.name for each in artefacts.environment.mutants])
    except UnknownAgent as wrong:
        raise ExitError(Exit.USAGE, str(wrong)) from wrong
