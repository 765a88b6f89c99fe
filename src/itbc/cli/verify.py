"""`itbc verify`: a scenario's claims, proven."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from itbc.cli import assembly
from itbc.cli.claims import CLAIMS, Claims, judge
from itbc.cli.compiling import compiled, hiding_places, secrets
from itbc.cli.exits import Exit, ExitError
from itbc.cli.leftovers import tell_remaining
from itbc.cli.wholerun import live
from itbc.cli.workshop import Desk, collect_garbage, desk, told
from itbc.runner.agents import CHEATS, MUTANT, SHIPPED
from itbc.runner.artefacts import Artefacts
from itbc.runner.leftovers.ledger import ever
from itbc.runner.leftovers.sweeping import look_again
from itbc.runner.life import Assignment

SCENARIO_FILE = "scenario.itb"
LOG_WIDTH = 160
MUTANTS = "mutants"
"""Stands for all mutants of a scenario."""

DEFAULT_AGENTS = ("noop", "solution", *CHEATS, MUTANTS)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--agents",
    default=",".join(DEFAULT_AGENTS),
    show_default=True,
    help="Which shipped agents to try, by commas; `mutants` are all that a scenario has.",
)
@click.option("--target", default="embedded", show_default=True, help="Where the environments will stand.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the runs' random choices.")
def command(paths: tuple[Path, ...], agents: str, target: str, seed: int) -> int:
    """Prove that the scenarios at PATHS (files, or folders of them) work: a whole run with each shipped agent.

    Each must be seen healthy, broken, alerting and destroyed; doing nothing must fail, the scenario's own solution must
    pass, cheats and the scenario's mutants of its solution must fail. Exit code 1 where a claim isn't true, 4 where
    something outside failed, so that nothing is proven.

    Example: itbc verify scenarios/sre
    """
    names = _agents(agents)
    if target not in assembly.targets():
        raise ExitError(Exit.USAGE, f"there is no target {target}", f"known targets: {', '.join(assembly.targets())}")
    scenarios = _scenarios(paths)
    results: list[Claims] = []
    with desk(target) as place:
        for scenario in scenarios:
            results += _verify(place, scenario, names, target, seed)
            if place.workshop.patience.stop.is_set():
                break
    # In a log nothing is wrapped: a table that is cut to 80 columns can't be searched.
    width = None if sys.stdout.isatty() else LOG_WIDTH
    Console(highlight=False, width=width).print(_table(results))
    for each in results:
        for reason in each.reasons:
            click.echo(f"{each.scenario} with {each.agent}: {reason}", err=True)
    if any(each.outside for each in results) or place.workshop.patience.stop.is_set():
        return Exit.OUTSIDE
    return Exit.FAILED if any(not each.hold for each in results) else Exit.FINE


def _agents(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in {*SHIPPED, MUTANTS}]
    if unknown or not names:
        known = ", ".join(sorted({*SHIPPED, MUTANTS}))
        raise ExitError(
            Exit.USAGE, f"no shipped agent is called {', '.join(unknown) or 'nothing'}", f"there are {known}"
        )
    return names


def _scenarios(paths: Iterable[Path]) -> list[Path]:
    """The scenarios below the given paths, in order. Raises ExitError where there are none."""
    found: list[Path] = []
    for path in paths:
        found += sorted(each.parent for each in path.rglob(SCENARIO_FILE)) if path.is_dir() else [path]
    if not found:
        raise ExitError(Exit.USAGE, "there is no scenario there", f"a scenario is a folder with a {SCENARIO_FILE}")
    return list(dict.fromkeys(found))


def _each(agents: Sequence[str], artefacts: Artefacts) -> Iterator[str]:
    """The agents with the scenario's own mutants in their place."""
    for agent in agents:
        if agent == MUTANTS:
            yield from (f"{MUTANT}{each.name}" for each in artefacts.environment.mutants)
        else:
            yield agent


def _verify(place: Desk, scenario: Path, agents: Sequence[str], target: str, seed: int) -> list[Claims]:
    results: list[Claims] = []
    with compiled(scenario, target) as artefacts:
        for agent in _each(agents, artefacts):
            collect_garbage(place.workshop, place.progress.say)
            place.progress.say(f"{artefacts.manifest.scenario} with {agent}")
            assignment = Assignment(
                agent=agent,
                command=[],
                seconds=artefacts.environment.task.within_seconds,
                hidden=hiding_places(scenario),
                secret=[*secrets(scenario), artefacts.folder],
                # What must fail has failed with the first thing that it broke; of the solution all is wanted.
                verdict_only=agent != "solution",
            )
            lived = live(place, artefacts, assignment, seed, keep=False)
            if lived.ended is not None:
                tell_remaining(lived.run.record.run, lived.ended)
            if lived.run.record.failure is not None:
                place.progress.say(f"  {told(lived.run.record.failure)}")
            missed = look_again(ever(lived.run.folder / "ledger.jsonl"), place.workshop.tools.sweepers)
            results.append(judge(lived, missed))
            if place.workshop.patience.stop.is_set():
                break
    return results


def _table(results: Sequence[Claims]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("scenario", "agent", *CLAIMS):
        table.add_column(title)
    for each in results:
        table.add_row(each.scenario, each.agent, *(each.shown[claim] for claim in CLAIMS))
    return table
