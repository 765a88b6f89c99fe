"""What a score says: the verdicts in the order they are shown in, and what an agent named, in a few words."""

from __future__ import annotations

from collections.abc import Iterable

from itbc.contracts.score import Score, Verdict
from itbc.evaluators.diagnosis import NOT_A_CAUSE

_KINDS = ("objective", "safeguard", "healthy", "root-cause")


def in_order(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """What decides about passing first, then the diagnosis; those of a kind stay in their order."""
    return sorted(verdicts, key=lambda verdict: _KINDS.index(verdict.kind))


def named(score: Score) -> str:
    """How many of the root causes were named, and how much else; shorter where it is exactly them."""
    healthy = any(verdict.kind == "healthy" for verdict in score.verdicts)
    if score.diagnosed:
        return "rightly nothing blamed" if healthy else "root causes found"
    judged = [verdict for verdict in score.verdicts if verdict.kind == "root-cause"]
    causes = [verdict for verdict in judged if not verdict.name.startswith(NOT_A_CAUSE)]
    hits = sum(verdict.passed for verdict in causes)
    wrong = len(judged) - len(causes)
    if healthy:
        return f"{wrong} wrongly blamed" if wrong else "no answer"
    words = f"{hits} of {len(causes)} root causes named"
    return f"{words}, {wrong} wrongly blamed" if wrong else words
