"""A run's record and steps in its folder: written before and after, read back by whoever goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from itbc.contracts.record import Failure, Record, Stage, Step
from itbc.contracts.shape import ContractError, Shape, ShapeT, from_builtins, read, to_builtins, write
from itbc.runner.failures import StepFailed
from itbc.runner.home import RunFolder
from itbc.runner.observer import Observer


@dataclass(frozen=True, slots=True)
class Journal:
    """The history of one run. Nothing of it is kept in memory: each call reads and writes the files."""

    run: RunFolder
    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    observer: Observer

    def record(self) -> Record:
        """The summary as it is now. Raises ContractError."""
        return read(self.run.record, Record)

    def change(self, **changes: Any) -> Record:
        """Change some fields of the summary."""
        record = msgspec.structs.replace(self.record(), **changes)
        write(self.run.record, record)
        return record

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

        Raises StepFailed as the step did; what else it raises is a bug and
        comes out as one, but is written down too.
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
        write(path, step)
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
            failure = Failure(stage=stage, fault="environment", message=str(wrong))
            raise StepFailed("environment", str(wrong)) from wrong
        except BaseException as bug:
            failure = Failure(stage=stage, fault="itbc", message=f"{type(bug).__name__}: {bug}")
            raise
        else:
            return result
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
            write(path, ended)
            self.observer.step_ended(name, seconds, failure)


def as_failure(wrong: StepFailed, stage: Stage) -> Failure:
    """A step's failure as it goes into the record."""
    return Failure(stage=stage, fault=wrong.fault, message=wrong.message, remedy=wrong.remedy, origin=wrong.origin)
