"""What a scenario claims of a run with a shipped agent, and whether it was so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from itbc.cli.wholerun import Lived
from itbc.contracts.record import Step
from itbc.runner.agents import CHEATS, MUTANT

CLAIMS = ("healthy", "injected, proven", "alert fired", "agent", "destroyed clean")
YES = "[green]✓[/green]"
NO = "[red]✗[/red]"
UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of one run: each as it is shown, and why those that don't hold don't.

    `outside` says that something outside failed, `stopped` that the user ended
    the run: neither says anything about the scenario.
    """

    scenario: str
    agent: str
    shown: Mapping[str, str]
    reasons: tuple[str, ...]
    outside: bool
    stopped: bool = False

    @property
    def hold(self) -> bool:
        """Whether all are true."""
        return not self.reasons


def judge(lived: Lived, missed: Sequence[str] = ()) -> Claims:
    """Judge a run that is over; `missed` is what was found of it after its destruction.

    An alert that doesn't fire and an injection without effect are false claims
    of the scenario; an environment that fails is something outside.
    """
    record = lived.run.record
    steps = {step.name: step for step in lived.run.steps}
    reasons: list[str] = []
    shown = {
        "healthy": _sign(steps.get("recording")),
        "injected, proven": _sign(steps.get("inject")),
        "alert fired": _sign(steps.get("alerting")),
        "agent": UNKNOWN,
        "destroyed clean": YES if record.destroyed and not missed else NO,
    }
    if lived.run.evidence is not None:
        slowest = max((alert.after_seconds for alert in lived.run.evidence.alerts), default=0.0)
        shown["alert fired"] = f"{YES} ({slowest:.0f} s)"
    if not record.destroyed:
        reasons.append("not everything could be destroyed")
    reasons += [f"was still there after everything was destroyed: {thing}" for thing in missed]
    stopped = record.failure is not None and record.failure.fault == "interrupted"
    if stopped:
        reasons.append("stopped before its end, so it shows nothing")
    elif record.failure is not None:
        reasons.append(record.failure.message)
    elif record.score is not None:
        wanted = record.agent == "solution"
        passed = record.score.passed and (record.score.diagnosed or not wanted)
        what = "passes" if record.score.passed else "fails"
        right = passed == wanted
        reasons += _unplayed(lived)
        shown["agent"] = f"{YES if right else NO} {what}"
        if not right:
            reasons.append(_unexpected(record.agent, lived))
        if record.agent in CHEATS and record.score.diagnosed:
            reasons.append(f"{record.agent} gets the diagnosis right without looking for it")
    outside = record.failure is not None and record.failure.fault not in {"injection", "alert"}
    return Claims(record.scenario, record.agent, shown, tuple(reasons), outside or not record.destroyed, stopped)


def _unplayed(lived: Lived) -> list[str]:
    """A mutant proves nothing where one of its commands fails: it must do all of what it says."""
    agent = lived.run.evidence.agent if lived.run.evidence is not None else None
    if agent is None or not agent.name.startswith(MUTANT) or agent.outcome == "finished":
        return []
    return [f"a command of the mutant fails, so it proves nothing (exit code {agent.exit_code})"]


def _sign(step: Step | None) -> str:
    if step is None:
        return UNKNOWN
    return YES if step.state == "done" else NO


def _unexpected(agent: str, lived: Lived) -> str:
    score = lived.run.score
    if score is None or score.passed:
        return (
            f"{agent} passes, though it should fail" if agent != "solution" else "the solution doesn't name the truth"
        )
    bad = [f"{each.name}: {each.reason}" for each in score.verdicts if not each.passed]
    return "the solution fails: " + "; ".join(bad)
