"""The run's life as rows on one time axis."""

from __future__ import annotations

from dataclasses import dataclass

from itbc.contracts.record import Step
from itbc.evaluators.hold import holds
from itbc.results.report.material import Material, instant
from itbc.results.report.scale import Tick, TimeScale, clock, duration, idle_stretches

_TITLES = {
    "provision": "Environment applied",
    "baseline": "Seen healthy",
    "identity": "Agent's identity made",
    "recording": "Healthy state recorded",
    "inject": "Fault injected, proven",
    "alerting": "Alert waited for",
    "ready": "Agent's workspace opened",
    "agent": "Agent at work",
    "evaluate": "Evaluated",
    "metrics": "Metrics recorded",
    "destroy": "Destroyed",
}
_MINOR = {"identity", "recording", "ready", "metrics"}


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment: `kind` is `injected`, `fired`, `repaired`, `agent` or `command`; `at` in per cent."""

    kind: str
    at: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A step as a bar; places in per cent. `stage` says which colour it has."""

    title: str
    stage: str
    state: str
    is_minor: bool
    at: str
    took: str
    start: float
    width: float
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All rows, the moments that run through them, the axis, and the cuts where nothing happened for long."""

    rows: tuple[Row, ...]
    moments: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    cuts: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the head: its name, its value, and what it means."""

    name: str
    value: str
    meaning: str


def make_timeline(material: Material) -> Timeline:
    """The rows of all steps that began."""
    moments = material.moments
    spans = [_span(step, moments.end) for step in material.steps]
    idle = idle_stretches([(moments.begin, moments.begin), *spans])
    scale = TimeScale(moments.begin, moments.end, moments.begin, idle)
    return Timeline(
        rows=tuple(_row(step, span, scale, material) for step, span in zip(material.steps, spans, strict=True)),
        moments=_through(material, scale),
        ticks=tuple(scale.ticks()),
        cuts=tuple(Mark("cut", scale.at((start + end) / 2), duration(end - start)) for start, end in idle),
    )


def repaired(material: Material) -> float | None:
    """When the last objective's hold began, in Unix seconds; None where one never held or nothing was evaluated."""
    evidence, evaluation, ended = material.run.evidence, material.evaluation, material.moments.agent_ended
    if evidence is None or evaluation is None or ended is None or not evaluation.objectives:
        return None
    series = {each.objective: each for each in evidence.series}
    began: list[float] = []
    for objective in evaluation.objectives:
        seen = series.get(objective.name)
        hold = None if seen is None else holds(seen.samples, seen.step_seconds, objective)
        if hold is None or hold.began is None:
            return None
        began.append(hold.began)
    return ended + max(began)


def figures(material: Material) -> list[Figure]:
    """The few lengths of time that an incident is told by."""
    moments = material.moments
    found: list[Figure] = []
    if moments.injected is not None and moments.fired:
        found.append(
            Figure("Fault to alert", duration(max(moments.fired) - moments.injected), "until the last alert fired")
        )
    if material.agent is not None:
        found.append(Figure("Agent's time", duration(material.agent.seconds), _ENDED[material.agent.outcome]))
    held = repaired(material)
    if held is not None and moments.agent_ended is not None:
        since = held - moments.agent_ended
        found.append(Figure("End to recovery", duration(since), "until every objective held"))
    found.append(Figure("Whole life", duration(moments.end - moments.begin), "from start to the last step's end"))
    return found


_ENDED = {"finished": "ended by itself", "timeout": "ran out of time", "failed": "ended with a failure"}


def _span(step: Step, end: float) -> tuple[float, float]:
    where = f"step {step.name}"
    began = instant(step.started, where)
    return began, max(began, instant(step.ended, where) if step.ended is not None else end)


def _row(step: Step, span: tuple[float, float], scale: TimeScale, material: Material) -> Row:
    start = scale.at(span[0])
    return Row(
        title=_TITLES.get(step.name, step.name),
        stage=step.stage,
        state=step.state,
        is_minor=step.name in _MINOR and step.state == "done",
        at=clock(span[0] - scale.begin),
        took="unfinished" if step.state == "started" else duration(span[1] - span[0]),
        start=start,
        width=round(scale.at(span[1]) - start, 3),
        marks=_commands(material, scale) if step.name == "agent" else (),
    )


def _commands(material: Material, scale: TimeScale) -> tuple[Mark, ...]:
    began = material.moments.agent_began
    if material.trajectory is None or began is None:
        return ()
    return tuple(Mark("command", scale.at(began + each.at_seconds)) for each in material.trajectory.commands[:500])


def _through(material: Material, scale: TimeScale) -> tuple[Mark, ...]:
    moments, held = material.moments, repaired(material)
    found: list[tuple[str, str, float | None]] = [("injected", "fault injected", moments.injected)]
    found += [("fired", f"{alert.name} fires", at) for alert, at in zip(material.alerts, moments.fired, strict=False)]
    found += [
        ("agent", "agent begins", moments.agent_began),
        ("agent", "agent ends", moments.agent_ended),
        ("repaired", "all objectives hold", held),
    ]
    return tuple(
        Mark(kind, scale.at(at), f"{label} at {clock(at - scale.begin)}") for kind, label, at in found if at is not None
    )
