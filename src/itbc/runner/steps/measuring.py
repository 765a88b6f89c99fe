"""Step 9: record how the objectives went through the incident, while Prometheus still stands."""

from __future__ import annotations

from datetime import datetime

from itbc.contracts.evaluation import Evaluation
from itbc.contracts.metrics import Metrics
from itbc.contracts.shape import Shape, read, write
from itbc.evaluators.probes.courses import record_courses, step_for
from itbc.evaluators.probes.series import Pace
from itbc.runner.steps.access import Access, prometheus_clients
from itbc.runner.surroundings import Surroundings

ANSWER_SECONDS = 3.0
"""How long Prometheus may take for an answer: what nobody is judged by isn't worth more of a run's time."""


class MeasuringInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters, and from when on (RFC 3339)."""

    accesses: list[Access]
    begin: str


class MeasuringOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many objectives are in `metrics.json`, and why the others aren't."""

    courses: int
    problems: list[str]


def measuring(step: MeasuringInput, around: Surroundings) -> MeasuringOutput:
    """Write `metrics.json`. A Prometheus that doesn't answer is no failure."""
    evaluation = read(around.run.artefacts / "evaluation.json", Evaluation)
    begin = datetime.fromisoformat(step.begin).timestamp()
    seconds = step_for(around.now().timestamp() - begin)
    pace = Pace(step_seconds=seconds, now=lambda: around.now().timestamp(), pause=around.patience.pause)
    with prometheus_clients(step.accesses, ANSWER_SECONDS) as prometheus:
        courses, problems = record_courses(evaluation.objectives, prometheus, begin, pace)
    recorded = Metrics(
        run=around.run.name,
        scenario=around.environment.scenario,
        begin=step.begin,
        step_seconds=seconds,
        courses=courses,
        problems=problems,
    )
    write(around.run.metrics, recorded)
    return MeasuringOutput(courses=len(courses), problems=problems)
