"""Everything of a run's folder that its report shows, read and checked; what a run didn't get to is None or empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from itbc.contracts.environment import Environment
from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import AgentRun, SeenAlert
from itbc.contracts.metrics import Metrics
from itbc.contracts.record import Step
from itbc.contracts.shape import ContractError, ShapeT, from_builtins, read
from itbc.contracts.trajectory import Trajectory
from itbc.results.records import Run, load


@dataclass(frozen=True, slots=True)
class Moments:
    """When things happened, in Unix seconds; None for what didn't, or isn't known."""

    begin: float
    end: float
    injected: float | None
    fired: tuple[float, ...]
    agent_began: float | None
    agent_ended: float | None


@dataclass(frozen=True, slots=True)
class Material:
    """A run and what belongs to it."""

    run: Run
    evaluation: Evaluation | None
    environment: Environment | None
    metrics: Metrics | None
    trajectory: Trajectory | None
    agent: AgentRun | None
    alerts: tuple[SeenAlert, ...]
    moments: Moments

    @property
    def steps(self) -> tuple[Step, ...]:
        """The run's steps, in order."""
        return self.run.steps


def gather(folder: Path) -> Material:
    """Read a run's folder. Raises ContractError for a file that isn't what it should be, or a missing record."""
    run = load(folder)
    outputs = {step.name: step.output for step in run.steps if step.state == "done"}
    agent = _part(outputs.get("agent", {}), "agent", AgentRun)
    alerts = tuple(
        from_builtins(each, SeenAlert, "step alerting") for each in outputs.get("alerting", {}).get("alerts", ())
    )
    return Material(
        run=run,
        evaluation=_optional(folder / "artefacts" / "evaluation.json", Evaluation),
        environment=_optional(folder / "artefacts" / "environment.json", Environment),
        metrics=_optional(folder / "metrics.json", Metrics),
        trajectory=_optional(folder / "agent" / "trajectory.json", Trajectory),
        agent=run.evidence.agent if run.evidence is not None else agent,
        alerts=alerts,
        moments=_moments(run, outputs, alerts),
    )


def instant(text: str, where: str) -> float:
    """A time of a file, RFC 3339, in Unix seconds. Raises ContractError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as wrong:
        raise ContractError(f"{where}: {text!r} is no time") from wrong
    if moment.tzinfo is None:
        raise ContractError(f"{where}: {text!r} has no time zone")
    return moment.timestamp()


def _moments(run: Run, outputs: Mapping[str, Mapping[str, Any]], alerts: tuple[SeenAlert, ...]) -> Moments:
    begin = instant(run.record.created, "record.json")
    times = [begin]
    for step in run.steps:
        times += [instant(each, f"step {step.name}") for each in (step.started, step.ended) if each is not None]
    injected = _moment(outputs, "inject", "injected")
    return Moments(
        begin=begin,
        end=max(times),
        injected=injected,
        fired=() if injected is None else tuple(injected + each.after_seconds for each in alerts),
        agent_began=_moment(outputs, "agent", "started"),
        agent_ended=_moment(outputs, "agent", "ended"),
    )


def _moment(outputs: Mapping[str, Mapping[str, Any]], step: str, name: str) -> float | None:
    text = outputs.get(step, {}).get(name)
    return None if text is None else instant(str(text), f"step {step}")


def _part(output: Mapping[str, Any], name: str, kind: type[ShapeT]) -> ShapeT | None:
    return from_builtins(output[name], kind, f"step {name}") if name in output else None


def _optional(path: Path, kind: type[ShapeT]) -> ShapeT | None:
    return read(path, kind) if path.exists() else None
