"""How the objectives went through the incident: asked for once, at its end, to be looked at, not to be judged by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import httpx

from itbc.contracts.evaluation import Objective
from itbc.contracts.metrics import Course
from itbc.evaluators.probes.series import Pace, ProbeError, samples_since, skew

MOST_VALUES = 1000
"""How many values of an objective are recorded at most: more than a screen has columns."""


def step_for(seconds: float) -> float:
    """The step in whole seconds that keeps so long a stretch within MOST_VALUES."""
    return float(max(1, math.ceil(seconds / (MOST_VALUES - 1))))


def record_courses(
    objectives: Sequence[Objective], prometheus: Mapping[str, httpx.Client], begin: float, pace: Pace
) -> tuple[list[Course], list[str]]:
    """The values of all objectives from `begin` (Unix seconds by the clock of `pace`) until now.

    `prometheus` is as for `watch_objectives`. A Prometheus that doesn't answer at
    once is not asked again: the second part says what couldn't be recorded.
    """
    seconds = pace.now() - begin
    once = replace(pace, patience_seconds=0.0)
    courses: list[Course] = []
    problems: list[str] = []
    for cluster in sorted({objective.cluster for objective in objectives}):
        client = prometheus[cluster]
        try:
            start = begin + skew(client, cluster, once)
        except ProbeError as silent:
            problems.append(str(silent))
            continue
        for objective in (each for each in objectives if each.cluster == cluster):
            try:
                samples = samples_since(objective, client, start, seconds, once)
            except ProbeError as wrong:
                problems.append(str(wrong))
                continue
            courses.append(Course(objective=objective.name, values=[sample.value for sample in samples]))
    return courses, problems
