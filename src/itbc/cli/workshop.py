"""What the verbs that touch an environment have in common: the workshop and the failures' way out."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from itbc.cli import assembly
from itbc.cli.exits import Exit, ExitError
from itbc.cli.leftovers import counted
from itbc.cli.progress import Lane, Progress, Teller
from itbc.contracts.record import Failure, Record
from itbc.contracts.shape import ContractError, Unwritten
from itbc.runner.artefacts import Artefacts
from itbc.runner.failures import StepFailed, storage_failure, unwritten
from itbc.runner.home import Home
from itbc.runner.interruption import Interruption
from itbc.runner.leftovers.reaper import Reaped, reap
from itbc.runner.scratch import sweep_scratch
from itbc.runner.session import Workshop
from itbc.runner.surroundings import Tools
from itbc.stacks.toolchain import ToolchainError, terraform_binary


@dataclass(frozen=True, slots=True)
class Desk:
    """A verb's console, what it shows progress with, and its workshop."""

    console: Console
    progress: Teller
    workshop: Workshop

    def lane(self, name: str) -> Desk:
        """A desk for one of several runs that go on at once: what it tells has the name in front."""
        lane = Lane(self.console, name)
        return replace(self, progress=lane, workshop=replace(self.workshop, observer=lane))


@contextmanager
def desk(target: str = "", signals: Collection[str] = ()) -> Generator[Desk]:
    """Everything a verb needs to work on runs; signals are taken while the block runs.

    With a target, the machine is checked for it and prepared first, to collect
    these signals too. Raises ExitError for what went wrong, with the exit code that is right for it.
    """
    console = Console(stderr=True, highlight=False)
    progress = Progress(console)
    interruption = Interruption(progress.say)
    with outside_failures():
        home = Home.from_environment(os.environ)
        if target:
            _prepare(target, signals, home.cache, progress)
        workshop = Workshop(
            home=home,
            tools=Tools(
                terraform=terraform_binary(home.cache, progress.note),
                kubectl=assembly.kubectl(),
                resources=assembly.resources(),
                sweepers=assembly.sweepers(),
                running=assembly.running(),
            ),
            variables=dict(os.environ),
            observer=progress,
            patience=interruption.patience(),
            last_patience=interruption.last_patience(),
            now=lambda: datetime.now(UTC),
            random=random.Random(),  # noqa: S311 - names, not secrets
        )
        with interruption.listen(), progress:
            yield Desk(console, progress, workshop)


def signals_of(*artefacts: Artefacts) -> frozenset[str]:
    """The signals that are collected in any cluster."""
    return frozenset(
        signal for each in artefacts for cluster in each.environment.clusters for signal in cluster.signals
    )


@contextmanager
def outside_failures() -> Generator[None]:
    """Turn what the layers below raise into exit codes: 1 for the input, 4 for what is outside of itbc."""
    try:
        yield
    except StepFailed as wrong:
        raise ExitError(exit_of(wrong), told(wrong), wrong.remedy) from wrong
    except ToolchainError as wrong:
        raise ExitError(Exit.OUTSIDE, str(wrong), wrong.remedy) from wrong
    except Unwritten as wrong:
        lost = unwritten(str(wrong))
        raise ExitError(Exit.OUTSIDE, lost.message, lost.remedy) from wrong
    except OSError as wrong:
        full = storage_failure(wrong)
        if full is None:
            raise
        raise ExitError(Exit.OUTSIDE, full.message, full.remedy) from wrong
    except ContractError as wrong:
        raise ExitError(Exit.FAILED, str(wrong)) from wrong


def exit_of(wrong: StepFailed | Failure) -> Exit:
    """The exit code of a failure."""
    return Exit.FAILED if wrong.fault == "input" else Exit.BUG if wrong.fault == "itbc" else Exit.OUTSIDE


def told(wrong: StepFailed | Failure) -> str:
    """A failure in one line, with its place in the scenario where it has one."""
    if wrong.origin is None:
        return wrong.message
    return f"{wrong.origin.file}:{wrong.origin.line}:{wrong.origin.column}: {wrong.message}"


def _prepare(target: str, signals: Collection[str], cache: Path, progress: Progress) -> None:
    """Check the machine, then have everything there that a run needs. Raises ExitError and ToolchainError.

    This is before signals are taken, as a build of minutes should end with the first Ctrl-C.
    """
    _check_machine(target)
    begin = time.monotonic()
    with progress:
        progress.step_began("prepare")
        assembly.prepare(target, signals, cache, progress.note)
        progress.step_ended("prepare", time.monotonic() - begin, None)


def _check_machine(target: str) -> None:
    """Make sure that this machine has what a target needs. Raises ExitError, naming all that is missing."""
    missing = [each for each in assembly.preflight(target) if each.level == "missing"]
    if missing:
        lines = [f"{each.name}: {each.detail}" + (f"\n    {each.remedy}" if each.remedy else "") for each in missing]
        raise ExitError(Exit.OUTSIDE, "this machine lacks:\n  " + "\n  ".join(lines), "`itbc doctor` checks again")


def collect_garbage(workshop: Workshop, say: Callable[[str], None]) -> list[Reaped]:
    """Remove what dead runs left, and tell it. Returns what was taken."""
    sweep_scratch(workshop.home.compiled)
    taken: list[Reaped] = []
    for each in reap(workshop):
        taken.append(each)
        say(f"run {each.run}: removed {counted(each.removed)}, because {each.why}")
        for remaining in each.remaining:
            say(f"  still there: {remaining}")
        if each.remaining:
            for problem in each.problems:
                say(f"  {problem}")
    return taken


def show_failure(record: Record, console: Console) -> None:
    """Print why a run failed."""
    if record.failure is None:
        return
    console.print(f"error: {told(record.failure)}", markup=False, style="red")
    if record.failure.remedy:
        console.print(f"  help: {record.failure.remedy}", markup=False)
