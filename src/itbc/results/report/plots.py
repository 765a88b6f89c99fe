"""Each objective's course around the incident, with its bound and the moments that matter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from itbc.contracts.evaluation import Objective
from itbc.contracts.score import Verdict
from itbc.evaluators.hold import good, holds
from itbc.results.report.material import Material, instant
from itbc.results.report.scale import Tick, TimeScale, ValueScale, duration, number, value_scale
from itbc.results.report.timeline import Mark

HEIGHT = 150.0
WIDTH = 1000.0


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of time: `agent` (at work) or `hold` (the objective held); in per cent."""

    kind: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Plot:
    """One drawing. `path` is in a box of WIDTH x HEIGHT; `bound` is in pixels; the bad side is `bad_top`, `bad_height`.

    `verdict` is None where the run wasn't scored.
    """

    name: str
    wanted: str
    query: str
    verdict: Verdict | None
    path: str
    bound: float
    bad_top: float
    bad_height: float
    values: tuple[Tick, ...]
    times: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    bands: tuple[Band, ...]
    words: str


@dataclass(frozen=True, slots=True)
class _Values:
    begin: float
    step: float
    values: Sequence[float | None]

    @property
    def end(self) -> float:
        return self.begin + self.step * max(len(self.values) - 1, 0)


def plots(material: Material) -> list[Plot]:
    """A plot for each objective that there are values of."""
    if material.evaluation is None:
        return []
    found = [(each, _values(each, material)) for each in material.evaluation.objectives]
    return [_plot(objective, values, material) for objective, values in found if values is not None]


def _values(objective: Objective, material: Material) -> _Values | None:
    """The recorded course; without one, what the objective was judged by, which begins with the agent's end."""
    if material.metrics is not None:
        for course in material.metrics.courses:
            if course.objective == objective.name and course.values:
                begin = instant(material.metrics.begin, "metrics.json")
                return _Values(begin, material.metrics.step_seconds, course.values)
    evidence, ended = material.run.evidence, material.moments.agent_ended
    for series in evidence.series if evidence is not None and ended is not None else ():
        if series.objective == objective.name and series.samples and ended is not None:
            return _Values(ended, series.step_seconds, [sample.value for sample in series.samples])
    return None


def _plot(objective: Objective, seen: _Values, material: Material) -> Plot:
    real = [value for value in seen.values if value is not None and math.isfinite(value)]
    values = value_scale([*real, objective.bound], HEIGHT)
    times = TimeScale(seen.begin, max(seen.end, seen.begin + seen.step), material.moments.begin)
    bound = values.at(objective.bound)
    is_bad_above = objective.comparison.startswith("<")
    score = material.run.score
    verdicts = [] if score is None else [v for v in score.verdicts if v.kind == "objective"]
    return Plot(
        name=objective.name,
        wanted=f"{objective.comparison} {number(objective.bound)} for {duration(objective.hold_seconds)}",
        query=objective.query,
        verdict=next((each for each in verdicts if each.name == objective.name), None),
        path=_path(seen, times, values),
        bound=bound,
        bad_top=0.0 if is_bad_above else bound,
        bad_height=bound if is_bad_above else round(HEIGHT - bound, 2),
        values=tuple(values.ticks()),
        times=tuple(times.ticks()),
        marks=_marks(material, times),
        bands=_bands(objective, material, times),
        words=_words(objective, seen, real),
    )


def _path(seen: _Values, times: TimeScale, values: ValueScale) -> str:
    """The line, broken where there was no value. A lone value is a dot, which is a line of no length."""
    parts: list[str] = []
    pen_down = False
    for index, value in enumerate(seen.values):
        if value is None or not math.isfinite(value):
            pen_down = False
            continue
        x = times.at(seen.begin + index * seen.step) * WIDTH / 100
        y = values.at(value)
        parts.append(f"L{x:.1f} {y:.1f}" if pen_down else f"M{x:.1f} {y:.1f}h0")
        pen_down = True
    return "".join(parts)


def _marks(material: Material, times: TimeScale) -> tuple[Mark, ...]:
    moments = material.moments
    found = [("injected", moments.injected), *(("fired", each) for each in moments.fired)]
    found += [("agent", moments.agent_began), ("agent", moments.agent_ended)]
    return tuple(Mark(kind, times.at(at)) for kind, at in found if at is not None and times.holds(at))


def _bands(objective: Objective, material: Material, times: TimeScale) -> tuple[Band, ...]:
    moments = material.moments
    found: list[Band] = []
    if moments.agent_began is not None and moments.agent_ended is not None:
        found.append(_band("agent", moments.agent_began, moments.agent_ended, times))
    evidence, ended = material.run.evidence, moments.agent_ended
    series = [] if evidence is None else [each for each in evidence.series if each.objective == objective.name]
    if series and ended is not None:
        hold = holds(series[0].samples, series[0].step_seconds, objective)
        if hold.began is not None:
            began = ended + hold.began
            found.append(_band("hold", began, began + objective.hold_seconds, times))
    return tuple(each for each in found if each.width > 0)


def _band(kind: str, start: float, end: float, times: TimeScale) -> Band:
    left = times.at(start)
    return Band(kind, left, round(times.at(end) - left, 3))


def _words(objective: Objective, seen: _Values, real: Sequence[float]) -> str:
    if not real:
        return f"{objective.name}: no values"
    bad = sum(not good(value, objective) for value in seen.values) * seen.step
    return (
        f"{objective.name}: between {number(min(real))} and {number(max(real))}, last {number(real[-1])}; "
        f"wanted {objective.comparison} {number(objective.bound)}; not so for {duration(bad)} in all"
    )
