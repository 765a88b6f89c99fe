"""Step 8: see how the environment is now, put all that was seen together, and score it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import AgentRun, Evidence, SeenAlert
from itbc.contracts.score import Score
from itbc.contracts.shape import Shape, read, write
from itbc.evaluators import score
from itbc.evaluators.hold import Hold
from itbc.evaluators.mitigation import judge_safeguard
from itbc.evaluators.probes.series import Pace, ProbeError, ProbeSilentError, Watching, watch_objectives
from itbc.runner.failures import StepFailed
from itbc.runner.steps.access import Access, prometheus_clients
from itbc.runner.steps.continuity import heard, unbroken
from itbc.runner.steps.lending import lent, redaction
from itbc.runner.steps.recording import Objects, seen_objects
from itbc.runner.surroundings import Surroundings

ANSWER_SECONDS = 10.0
"""How long Prometheus may take for an answer before it is asked again."""


class EvaluatingInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters, and what is known of the run so far.

    `started` and `ended` are the agent's beginning and end (RFC 3339), `programs` the clusters' at its beginning.
    `verdict_only`: once the run can't pass any more, don't wait for what else would be seen.
    """

    accesses: list[Access]
    programs: dict[str, dict[str, str]]
    agent: AgentRun
    started: str
    ended: str
    alerts: list[SeenAlert]
    verdict_only: bool = False


class EvaluatingOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The score, which is also in `score.json`."""

    score: Score


def evaluating(step: EvaluatingInput, around: Surroundings) -> EvaluatingOutput:
    """Write `evidence.json` and `score.json`.

    Raises StepFailed where the environment can't be asked, or had an outage since the agent began.
    """
    evaluation = read(around.run.artefacts / "evaluation.json", Evaluation)
    unbroken(step.programs, step.accesses, around)
    # The objects first: whatever the agent left running in the cluster must not have more time to tidy up.
    values = redaction(lent(step.agent.variables, around), around)
    after = [values.shape(each) for each in seen_objects(step.accesses, around)]
    before = read(around.run.before, Objects).objects
    broken = not all(judge_safeguard(guard, before, after).passed for guard in evaluation.safeguards)

    def enough(holds: Sequence[Hold]) -> bool:
        return step.verdict_only and (broken or any(each.decided and not each.held for each in holds))

    def progress(open_: Sequence[Watching]) -> None:
        around.tell("; ".join(f"{each.objective.name}: {each.hold.longest:.0f} s good" for each in open_))

    pace = Pace(now=lambda: around.now().timestamp(), pause=around.patience.pause)
    with prometheus_clients(step.accesses, ANSWER_SECONDS) as prometheus:
        try:
            series = watch_objectives(
                evaluation.objectives,
                prometheus,
                datetime.fromisoformat(step.ended).timestamp(),
                pace=pace,
                progress=progress,
                enough=enough,
            )
        except ProbeError as wrong:
            remedy = "run again: this run says nothing about the agent"
            silent = isinstance(wrong, ProbeSilentError)
            raise StepFailed("environment" if silent else "evaluation", str(wrong), remedy) from wrong
        # Last, when all samples are in: what is scored below has no holes.
        unbroken(step.programs, step.accesses, around)
        heard(prometheus, datetime.fromisoformat(step.started).timestamp(), around, pace)
    evidence = Evidence(
        run=around.run.name,
        scenario=around.environment.scenario,
        agent=step.agent,
        alerts=step.alerts,
        series=series,
        before=before,
        after=after,
    )
    write(around.run.evidence, evidence)
    verdict = score(evaluation, evidence)
    write(around.run.score, verdict)
    return EvaluatingOutput(score=verdict)
