"""`itbc verify`: a scenario's claims, proven."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from itbc.cli import assembly
from itbc.cli.claims import CLAIMS, Claims, judge
from itbc.cli.compiling import compiled, hiding_places, secrets
from itbc.cli.exits import Exit, ExitError
from itbc.cli.granting import Granted, granted, granting
from itbc.cli.leftovers import tell_remaining
from itbc.cli.masking import mask_option, masks_for
from itbc.cli.wholerun import Circumstances, live
from itbc.cli.workshop import Desk, collect_garbage, desk, signals_of, told
from itbc.contracts.mask import Mask
from itbc.runner.agents import CHEATS, MUTANT, SHIPPED
from itbc.runner.artefacts import Artefacts
from itbc.runner.leftovers.ledger import ever
from itbc.runner.leftovers.sweeping import look_again
from itbc.runner.life import Assignment
from itbc.runner.sandbox.network import Address

SCENARIO_FILE = "scenario.itb"
LOG_WIDTH = 160
MUTANTS = "mutants"
"""Stands for all mutants of a scenario."""

DEFAULT_AGENTS = ("noop", "solution", *CHEATS, MUTANTS)

MEMORY_OF_A_RUN = 2 << 30
"""What a run takes of the machine's memory, generously, in bytes: a cluster is half a GiB, its application as much."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A run to be lived: a scenario, compiled, with an agent."""

    scenario: Path
    artefacts: Artefacts
    agent: str
    masks: Sequence[Mask] = ()
    grants: Granted = field(default_factory=Granted)

    @property
    def name(self) -> str:
        """How it is told from others."""
        return f"{self.artefacts.manifest.scenario} with {self.agent}"


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--agents",
    default=",".join(DEFAULT_AGENTS),
    show_default=True,
    help="Which shipped agents to try, by commas; `mutants` are all that a scenario has, `mutant:NAME` is one of them.",
)
@click.option("--target", default="embedded", show_default=True, help="Where the environments will stand.")
@granting
@mask_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the runs' random choices.")
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1, 64),
    default=None,
    help="How many runs at once; by default one a processor, less where memory is short.",
)
def command(
    *,
    paths: tuple[Path, ...],
    agents: str,
    target: str,
    agent_env: tuple[str, ...],
    agent_net: tuple[Address, ...],
    masks: tuple[str, ...],
    seed: int,
    jobs: int | None,
) -> int:
    """Prove that the scenarios at PATHS (files, or folders of them) work: a whole run with each shipped agent.

    Each must be seen healthy, broken, alerting and destroyed; doing nothing must fail, the scenario's own solution must
    pass, cheats and the scenario's mutants of its solution must fail. Exit code 1 where a claim isn't true, 4 where
    something outside failed or you stopped it, so that nothing is proven. A `-` is what a run never reached.

    A run takes about two minutes on two processors; each scenario has nine and one for each of its mutants.

    Example: itbc verify scenarios/sre --jobs 3
    """
    names = _agents(agents)
    grants = granted(agent_env, agent_net)
    assembly.target(target)
    scenarios = _scenarios(paths)
    with ExitStack() as stack:
        trials = [
            Trial(scenario, artefacts, agent, hidden, grants)
            for scenario in scenarios
            for artefacts in [stack.enter_context(compiled(scenario, target))]
            for hidden in [masks_for(masks, artefacts.environment)]
            for agent in _each(names, artefacts)
        ]
        _all_there(names, trials)
        place = stack.enter_context(desk(target, signals_of(*(trial.artefacts for trial in trials))))
        collect_garbage(place.workshop, place.progress.say)
        results = _live_all(place, trials, seed, min(jobs or default_jobs(), len(trials)))
    # In a log nothing is wrapped: a table that is cut to 80 columns can't be searched.
    width = None if sys.stdout.isatty() else LOG_WIDTH
    Console(highlight=False, width=width).print(_table(results))
    for each in results:
        for reason in each.reasons:
            click.echo(f"{each.scenario} with {each.agent}: {reason}", err=True)
    if len(results) < len(trials):
        click.echo(f"{len(trials) - len(results)} of {len(trials)} runs were not begun", err=True)
    if any(each.outside for each in results) or place.workshop.patience.stop.is_set():
        return Exit.OUTSIDE
    return Exit.FAILED if any(not each.hold for each in results) else Exit.FINE


def default_jobs() -> int:
    """How many runs this machine can live at once: one a processor that this process may use, if memory allows."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    return max(1, min(len(os.sched_getaffinity(0)), memory // MEMORY_OF_A_RUN))


def _agents(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in {*SHIPPED, MUTANTS} and not name.startswith(MUTANT)]
    if unknown or not names:
        known = ", ".join(sorted({*SHIPPED, MUTANTS, f"{MUTANT}NAME"}))
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
    """The agents for a scenario, with its own mutants in their place; a mutant that it hasn't is left out."""
    own = [f"{MUTANT}{each.name}" for each in artefacts.environment.mutants]
    for agent in agents:
        if agent == MUTANTS:
            yield from own
        elif agent in own or not agent.startswith(MUTANT):
            yield agent


def _all_there(names: Sequence[str], trials: Sequence[Trial]) -> None:
    """Refuse a mutant that no scenario has. Raises ExitError."""
    missing = [name for name in names if name.startswith(MUTANT) and all(trial.agent != name for trial in trials)]
    if missing:
        own = sorted({each.name for trial in trials for each in trial.artefacts.environment.mutants})
        raise ExitError(
            Exit.USAGE,
            f"no scenario there has a mutant {missing[0].removeprefix(MUTANT)}",
            f"there are {', '.join(own)}" if own else "a scenario's mutants are its `mutant` blocks",
        )


def _live_all(place: Desk, trials: Sequence[Trial], seed: int, jobs: int) -> list[Claims]:
    """Live the trials, so many at once. Returns what came out, in the order of the trials.

    After the user's wish to stop none is begun any more, and those that are on are taken down.
    """
    stop = place.workshop.patience.stop
    results: dict[int, Claims] = {}

    def one(number: int, trial: Trial) -> None:
        if stop.is_set():
            return
        own = place.lane(trial.name) if jobs > 1 else place
        own.progress.say(f"run {number + 1} of {len(trials)}" if jobs > 1 else trial.name)
        try:
            results[number] = _verify(own, trial, seed)
        except BaseException:
            # A bug, or something that no run can go on with: the others must not go on for an hour.
            stop.set()
            raise

    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="trial") as pool:
        for begun in [pool.submit(one, number, trial) for number, trial in enumerate(trials)]:
            begun.result()
    return [results[number] for number in sorted(results)]


def _verify(place: Desk, trial: Trial, seed: int) -> Claims:
    assignment = Assignment(
        agent=trial.agent,
        command=[],
        seconds=trial.artefacts.environment.task.within_seconds,
        hidden=hiding_places(trial.scenario),
        secret=[*secrets(trial.scenario), trial.artefacts.folder],
        # What must fail has failed with the first thing that it broke; of the solution all is wanted.
        verdict_only=trial.agent != "solution",
        variables=trial.grants.variables,
        addresses=trial.grants.addresses,
    )
    lived = live(place, trial.artefacts, assignment, Circumstances(seed, trial.masks), keep=False)
    if lived.ended is not None:
        tell_remaining(lived.run.record.run, lived.ended)
    if lived.run.record.failure is not None:
        place.progress.say(f"  {told(lived.run.record.failure)}")
    missed = look_again(ever(lived.run.folder / "ledger.jsonl"), place.workshop.tools.sweepers)
    claims = judge(lived, missed)
    failing = "not shown" if claims.stopped else "not as claimed"
    place.progress.say("claims hold" if claims.hold else f"{failing}: {'; '.join(claims.reasons)}")
    return claims


def _table(results: Sequence[Claims]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("scenario", "agent", *CLAIMS):
        table.add_column(title)
    for each in results:
        table.add_row(each.scenario, each.agent, *(each.shown[claim] for claim in CLAIMS))
    return table
