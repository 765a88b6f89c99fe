"""Read what a run left in its folder, and score it again from the files alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import Evidence
from itbc.contracts.record import Record, Step
from itbc.contracts.score import Score
from itbc.contracts.shape import ShapeT, read
from itbc.evaluators import score


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its folder has it; `evidence` and `score` are None where it didn't get so far."""

    folder: Path
    record: Record
    steps: tuple[Step, ...]
    evidence: Evidence | None
    score: Score | None


def load(folder: Path) -> Run:
    """Read a run's folder.

    Raises `contracts.shape.ContractError` for a file that is missing or isn't what it should be.
    """
    record = read(folder / "record.json", Record)
    steps = sorted((read(path, Step) for path in (folder / "steps").glob("*.json")), key=lambda step: step.number)
    return Run(
        folder=folder,
        record=record,
        steps=tuple(steps),
        evidence=_optional(folder / "evidence.json", Evidence),
        score=_optional(folder / "score.json", Score) or record.score,
    )


def rescore(folder: Path) -> Score:
    """Make a run's score again from its evaluation spec and its evidence; nothing else is needed, nor written.

    Raises `contracts.shape.ContractError` where one of the two files is missing, wrong, or of another scenario.
    """
    evaluation = read(folder / "artefacts" / "evaluation.json", Evaluation)
    evidence = read(folder / "evidence.json", Evidence)
    return score(evaluation, evidence)


def _optional(path: Path, kind: type[ShapeT]) -> ShapeT | None:
    return read(path, kind) if path.exists() else None
