"""A run's life: the steps in their order. Each is called with what earlier ones wrote into the run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from itbc.contracts.record import Record, Stage
from itbc.contracts.shape import ShapeT
from itbc.runner.failures import StepFailed
from itbc.runner.journal import Journal, as_failure
from itbc.runner.sandbox.limits import Limits
from itbc.runner.sandbox.network import Address
from itbc.runner.steps.access import Access, accesses
from itbc.runner.steps.alerting import AlertingInput, AlertingOutput, alerting
from itbc.runner.steps.baseline import BaselineInput, baseline
from itbc.runner.steps.destroying import DestroyingInput, DestroyingOutput, destroying
from itbc.runner.steps.evaluating import EvaluatingInput, evaluating
from itbc.runner.steps.identity import IdentityInput, identity
from itbc.runner.steps.injecting import InjectingInput, injecting
from itbc.runner.steps.measuring import MeasuringInput, measuring
from itbc.runner.steps.provision import ProvisionInput, ProvisionOutput, provision
from itbc.runner.steps.ready import ReadyInput, ReadyOutput, ready
from itbc.runner.steps.recording import RecordingInput, RecordingOutput, recording
from itbc.runner.steps.working import WorkingInput, WorkingOutput, working
from itbc.runner.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who is to work, how, for at most how long, and what must be kept from its eyes (see `sandbox.view`).

    `verdict_only` ends the evaluation as soon as the run can't pass any more. `variables` (names, of the user's
    environment) and `addresses` are what it gets besides what the scenario grants.
    """

    agent: str
    command: Sequence[str]
    seconds: float
    hidden: Sequence[Path] = ()
    secret: Sequence[Path] = ()
    verdict_only: bool = False
    limits: Limits = field(default_factory=Limits)
    variables: Sequence[str] = ()
    addresses: Sequence[Address] = ()


@dataclass(frozen=True, slots=True)
class Life:
    """One run's life, in parts that commands put together. Each part raises StepFailed, and writes it down."""

    around: Surroundings
    journal: Journal

    def bring_up(self) -> None:
        """Provision, see it healthy, give the agent its identity, record what must stay."""
        around, journal = self.around, self.journal
        # Said before anything is created: from here on there may be something to destroy.
        journal.change(destroyed=False)
        stacks = ProvisionInput(stacks=[each.id for each in around.environment.stacks])
        journal.perform("provision", "provisioning", stacks, lambda: provision(stacks, around))
        found = self._accesses()
        quiet = BaselineInput(accesses=found)
        journal.perform("baseline", "healthy", quiet, lambda: baseline(quiet, around))
        rights = IdentityInput(accesses=found)
        journal.perform("identity", "healthy", rights, lambda: identity(rights, around))
        objects = RecordingInput(accesses=found)
        journal.perform("recording", "healthy", objects, lambda: recording(objects, around))

    def break_down(self) -> None:
        """Inject the faults, prove them, see the alerts fire."""
        around, journal = self.around, self.journal
        self._needed("recording", RecordingOutput, "the environment was never seen healthy")
        refuse_to_break(journal)
        found = self._accesses()
        broken = InjectingInput(accesses=found)
        injected = journal.perform("inject", "injecting", broken, lambda: injecting(broken, around))
        alerts = AlertingInput(accesses=found, injected=injected.injected)
        journal.perform("alerting", "alerting", alerts, lambda: alerting(alerts, around))

    def work(self, assignment: Assignment) -> None:
        """Let the agent in, and wait for its end."""
        around, journal = self.around, self.journal
        self._needed("alerting", AlertingOutput, "the alerts were never seen firing")
        found = self._accesses()
        opened = ReadyInput(accesses=found, seconds=assignment.seconds)
        place = journal.perform("ready", "ready", opened, lambda: ready(opened, around))
        task = WorkingInput(
            agent=assignment.agent,
            command=list(assignment.command),
            accesses=found,
            workspace=place.workspace,
            user=place.user,
            seconds=assignment.seconds,
            hidden=[str(each) for each in assignment.hidden],
            secret=[str(each) for each in assignment.secret],
            memory=assignment.limits.memory,
            cpus=assignment.limits.cpus,
            processes=assignment.limits.processes,
            variables=list(assignment.variables),
            addresses=[str(each) for each in assignment.addresses],
        )
        journal.perform("agent", "working", task, lambda: working(task, around))

    def judge(self, *, verdict_only: bool = False) -> None:
        """Collect the evidence, all of it or what the verdict needs, and score it."""
        around, journal = self.around, self.journal
        worked = self._needed("agent", WorkingOutput, "no agent has worked")
        seen = self._needed("alerting", AlertingOutput, "the alerts were never seen firing")
        opened = self._needed("ready", ReadyOutput, "no agent was let in")
        given = EvaluatingInput(
            accesses=self._accesses(),
            programs=opened.programs,
            agent=worked.agent,
            started=worked.started,
            ended=worked.ended,
            alerts=seen.alerts,
            verdict_only=verdict_only,
        )
        judged = journal.perform("evaluate", "evaluating", given, lambda: evaluating(given, around))
        journal.change(score=judged.score)

    def measure(self) -> None:
        """Record how the objectives went, however far the run got. Never raises StepFailed: no run fails of that."""
        around, journal = self.around, self.journal
        begin = next((step.started for step in journal.steps() if step.name == "baseline"), None)
        if begin is None or around.patience.stop.is_set():
            return
        with suppress(StepFailed):
            given = MeasuringInput(accesses=self._accesses(), begin=begin)
            journal.perform("metrics", stage_of(journal.record()), given, lambda: measuring(given, around))

    def take_down(self) -> DestroyingOutput:
        """Destroy whatever stands. Never raises StepFailed: what went wrong is in what it returns."""
        around, journal = self.around, self.journal
        known = journal.output("provision", ProvisionOutput)
        given = DestroyingInput(
            stacks=[each.id for each in around.environment.stacks], outputs=known.outputs if known else {}
        )
        try:
            ended = journal.perform("destroy", "destroying", given, lambda: destroying(given, around))
        except StepFailed:
            # It couldn't be written down, before or after. It must be done all the same; twice does no harm.
            ended = destroying(given, around)
        journal.change(destroyed=not ended.remaining)
        return ended

    def failed(self, wrong: StepFailed) -> Record:
        """Write down why the run doesn't go on. The first reason is the one that counts."""
        record = self.journal.record()
        if record.failure is not None:
            return record
        return self.journal.change(failure=as_failure(wrong, stage_of(record)))

    def over(self) -> Record:
        """Write down that the run has ended."""
        record = self.journal.record()
        return self.journal.change(state="failed" if record.failure or not record.destroyed else "done")

    def _accesses(self) -> list[Access]:
        return accesses(self.around, self._needed("provision", ProvisionOutput, "nothing was provisioned"))

    def _needed(self, step: str, kind: type[ShapeT], otherwise: str) -> ShapeT:
        output = self.journal.output(step, kind)
        if output is None:
            raise StepFailed("input", f"run {self.around.run.name} isn't that far: {otherwise}")
        return output


def refuse_to_break(journal: Journal) -> None:
    """Raise StepFailed where there is nothing to break any more: the run was destroyed, or broken before."""
    name = journal.run.name
    steps = {(step.name, step.state) for step in journal.steps()}
    if any(step == "destroy" for step, _ in steps):
        raise StepFailed("input", f"run {name} was destroyed", "`itbc apply` brings up another environment")
    if ("inject", "done") in steps:
        raise StepFailed(
            "input", f"run {name} is already injected, nothing was done", f"`itbc destroy {name}` takes it down"
        )


def stage_of(record: Record) -> Stage:
    """The stage that a run is in; one that hasn't begun is about to be provisioned."""
    return "provisioning" if record.state in ("queued", "done", "failed") else msgspec.convert(record.state, Stage)
