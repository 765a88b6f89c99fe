"""One run from beginning to end, as `run` and `verify` live it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from itbc.cli.exits import Exit
from itbc.cli.workshop import Desk
from itbc.contracts.mask import Mask
from itbc.contracts.record import Record
from itbc.results.junit import to_junit
from itbc.results.records import Run, load
from itbc.runner import session
from itbc.runner.artefacts import Artefacts
from itbc.runner.failures import StepFailed
from itbc.runner.life import Assignment, Life
from itbc.runner.steps.destroying import DestroyingOutput


@dataclass(frozen=True, slots=True)
class Lived:
    """A run that is over, and what its destruction said."""

    run: Run
    ended: DestroyingOutput | None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What makes a run another one than the next of the same scenario and agent, and is recorded."""

    seed: int
    masks: Sequence[Mask] = ()


def live(desk: Desk, artefacts: Artefacts, assignment: Assignment, given: Circumstances, *, keep: bool) -> Lived:
    """Live a whole run. What fails on the way is in the run's record; destroyed is always, unless `keep`."""
    ended: DestroyingOutput | None = None
    with session.new_run(desk.workshop, artefacts, assignment.agent, given.seed, given.masks) as life:
        run = life.around.run
        desk.progress.say(f"run {run.name}")
        try:
            attempt(life, lambda: _work(life, assignment))
            life.measure()
        finally:
            if keep and not desk.workshop.patience.stop.is_set():
                session.keep(life)
            else:
                ended = life.take_down()
                life.over()
                session.close(life)
        life.journal.saved()
    found = load(run.path)
    run.junit.write_bytes(to_junit([found]))
    return Lived(found, ended)


def attempt(life: Life, call: Callable[[], None]) -> bool:
    """Do a part of a life; where it fails, the record says why. Returns whether it went well."""
    try:
        call()
    except StepFailed as wrong:
        life.failed(wrong)
        return False
    return True


def _work(life: Life, assignment: Assignment) -> None:
    life.bring_up()
    life.break_down()
    life.work(assignment)
    life.judge(verdict_only=assignment.verdict_only)


def exit_code(record: Record, ended: DestroyingOutput | None) -> Exit:
    """What a run's end means for the program: 0 scored and passed, 1 scored and not passed, 4 failed outside."""
    if record.failure is not None or (ended is not None and ended.remaining):
        return Exit.BUG if record.failure is not None and record.failure.fault == "itbc" else Exit.OUTSIDE
    if record.score is None:
        return Exit.OUTSIDE
    return Exit.FINE if record.score.passed else Exit.FAILED
