"""A run's record and steps in its folder: written before and after, read back by whoever goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from itbc.contracts.record import Failure, Record, Stage, Step
from itbc.contracts.shape import ContractError, Shape, ShapeT, Unwritten, from_builtins, read, to_builtins, write
from itbc.runner.failures import StepFailed, storage_failure, unwritten
from itbc.runner.home import RunFolder
from itbc.runner.observer import Observer


@dataclass(frozen=True, slots=True)
class Journal:
    """The history of one run. Each call reads and writes the files.

    In memory is only `unsaved`: changes of the summary that couldn't be written, which the next change tries again.
    """

    run: RunFolder
    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    observer: Observer
    unsaved: dict[str, Any] = field(default_factory=dict[str, Any])

    def record(self) -> Record:
        """The summary as it is now. Raises ContractError."""
        return msgspec.structs.replace(read(self.run.record, Record), **self.unsaved)

    def change(self, **changes: Any) -> Record:
        """Change some fields of the summary, on disk as soon as there is room for it."""
        self.unsaved.update(changes)
        record = self.record()
        try:
            write(self.run.record, record)
        except Unwritten:
            return record
        self.unsaved.clear()
        return record

    def saved(self) -> None:
        """Raise StepFailed where the summary on disk isn't what it should be."""
        if self.unsaved:
            raise unwritten(f"the summary of run {self.run.name} can't be written")

    def steps(self) -> list[Step]:
        """All steps so far, in order. Raises ContractError."""
        return sorted((read(path, Step) for path in self.run.steps.glob("*.json")), key=lambda step: step.number)

    def output(self, name: str, kind: type[ShapeT]) -> ShapeT | None:
        """What the last successful step of that name gave; None where there was none."""
        for step in reversed(self.steps()):
            if step.name == name and step.state == "done":
                return from_builtins(step.output, kind, f"step {name}")
        return None

    def perform(self, name: str, stage: Stage, given: Shape, call: Callable[[], ShapeT]) -> ShapeT:
        """Run a step and write it down before and after.

        Raises StepFailed as the step did, and for one that can't be written
        down; what else it raises is a bug and comes out as one, but is written down too.
        """
        number = 1 + max((step.number for step in self.steps()), default=0)
        path = self.run.steps / f"{number:02d}-{name}.json"
        step = Step(
            number=number,
            name=name,
            stage=stage,
            state="started",
            started=self.now().isoformat(timespec="milliseconds"),
            input=to_builtins(given),
        )
        try:
            write(path, step)
        except Unwritten as wrong:
            raise unwritten(str(wrong)) from wrong
        self.change(state=stage)
        self.observer.step_began(name)
        begin = self.monotonic()
        failure: Failure | None = None
        output: dict[str, Any] = {}
        try:
            result = call()
            output = to_builtins(result)
        except StepFailed as wrong:
            failure = as_failure(wrong, stage)
            raise
        except ContractError as wrong:
            told = unwritten(str(wrong)) if isinstance(wrong, Unwritten) else StepFailed("environment", str(wrong))
            failure = as_failure(told, stage)
            raise told from wrong
        except BaseException as bug:
            full = storage_failure(bug)
            if full is not None:
                failure = as_failure(full, stage)
                raise full from bug
            failure = Failure(stage=stage, fault="itbc", message=f"{type(bug).__name__}: {bug}")
            raise
        finally:
            seconds = round(self.monotonic() - begin, 3)
            ended = msgspec.structs.replace(
                step,
                state="failed" if failure else "done",
                ended=self.now().isoformat(timespec="milliseconds"),
                seconds=seconds,
                output=output,
                failure=failure,
            )
            lost = self._end(path, ended)
            if lost is not None and failure is None:
                failure = as_failure(lost, stage)
            self.observer.step_ended(name, seconds, failure)
        if lost is not None:
            raise lost
        return result

    @staticmethod
    def _end(path: Path, ended: Step) -> StepFailed | None:
        """Write down how a step ended. Returns why that can't be."""
        try:
            write(path, ended)
        except Unwritten as wrong:
            return unwritten(str(wrong))
        return None


def as_failure(wrong: StepFailed, stage: Stage) -> Failure:
    """A step's failure as it goes into the record."""
    return Failure(stage=stage, fault=wrong.fault, message=wrong.message, remedy=wrong.remedy, origin=wrong.origin)
