"""Probes and verdicts: what is measured of a run, and the score made from it. Imports contracts only."""

from __future__ import annotations

from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import Evidence
from itbc.contracts.score import Score
from itbc.contracts.shape import ContractError
from itbc.evaluators.diagnosis import diagnose
from itbc.evaluators.mitigation import mitigate

__all__ = ["score"]


def score(evaluation: Evaluation, evidence: Evidence) -> Score:
    """The score of a run: a pure function of what was wanted and what was seen.

    Raises ContractError where the two are of different scenarios.
    """
    if evaluation.scenario != evidence.scenario:
        raise ContractError(
            f"the evidence is of scenario {evidence.scenario!r}, the evaluation of {evaluation.scenario!r}: "
            "take both files from the same run"
        )
    diagnosis = diagnose(evaluation.truth, evidence.agent)
    mitigation = mitigate(evaluation, evidence)
    return Score(
        run=evidence.run,
        scenario=evidence.scenario,
        agent=evidence.agent.name,
        passed=mitigation.passed and (diagnosis.exact or bool(evaluation.truth.root_causes)),
        diagnosed=diagnosis.exact,
        diagnosis=diagnosis.value,
        mitigation=mitigation.value,
        verdicts=[*diagnosis.verdicts, *mitigation.verdicts],
    )
