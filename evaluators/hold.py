"""Whether an objective held: one pure function that decides live and again from the recorded samples.

A hold is a stretch of samples, each on the right side of the bound and each at
its place, one step after the one before. It counts when it begins no later than
`settle_seconds` after the agent's end and lasts `hold_seconds`. What was good
before the agent ended doesn't count: the first sample is at 0.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from itbc.contracts.evaluation import Objective
from itbc.contracts.evidence import Sample

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_EARLY = 1e-6
"""Seconds that two times may differ by and still be the same: they were computed in floating point."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A verdict on one objective.

    `decided`: later samples can't change `held`. `began` is where the hold
    that succeeded began; `longest` is the length of the longest stretch that
    began in time, both in seconds. `reason` says in words what was seen.
    """

    decided: bool
    held: bool
    began: float | None
    longest: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Good samples in a row: where they begin and end, and what came after (None: nothing yet)."""

    begin: float
    end: float
    broken_by: str | None

    @property
    def length(self) -> float:
        return self.end - self.begin


def good(value: float | None, objective: Objective) -> bool:
    """Whether a value is on the right side of the bound. Silence, NaN and infinity are not."""
    return value is not None and math.isfinite(value) and _COMPARE[objective.comparison](value, objective.bound)


def holds(samples: Sequence[Sample], step_seconds: float, objective: Objective) -> Hold:
    """Decide an objective by the samples seen so far, which are in time order."""
    samples = [sample for sample in samples if sample.at >= -_EARLY]
    stretches = [
        s for s in _stretches(samples, step_seconds, objective) if s.begin <= objective.settle_seconds + _EARLY
    ]
    long_enough = [s for s in stretches if s.length >= objective.hold_seconds - _EARLY]
    longest = max((s.length for s in stretches), default=0.0)
    if long_enough:
        first = long_enough[0]
        reason = f"held {_seconds(objective.hold_seconds)} from {_seconds(first.begin)} after the agent's end"
        return Hold(decided=True, held=True, began=first.begin, longest=longest, reason=reason)
    seen = samples[-1].at if samples else 0.0
    running = bool(stretches) and stretches[-1].broken_by is None
    # A hold may still begin at the very end of the settling time: only a bad sample at or after it settles the matter.
    decided = bool(samples) and not running and seen >= objective.settle_seconds - _EARLY
    return Hold(
        decided=decided, held=False, began=None, longest=longest, reason=_why_not(samples, stretches, objective)
    )


def _stretches(samples: Sequence[Sample], step_seconds: float, objective: Objective) -> list[_Stretch]:
    found: list[_Stretch] = []
    begin: float | None = None
    last = 0.0
    for sample in samples:
        if begin is not None and sample.at - last > 1.5 * step_seconds:
            found.append(_Stretch(begin, last, f"no sample between {_seconds(last)} and {_seconds(sample.at)}"))
            begin = None
        is_good = good(sample.value, objective)
        if begin is not None and not is_good:
            found.append(_Stretch(begin, last, f"{_value(sample.value)} at {_seconds(sample.at)}"))
            begin = None
        elif begin is None and is_good:
            begin = sample.at
        last = sample.at
    if begin is not None:
        found.append(_Stretch(begin, last, None))
    return found


def _why_not(samples: Sequence[Sample], stretches: Sequence[_Stretch], objective: Objective) -> str:
    wanted = f"{objective.comparison} {objective.bound:g} for {_seconds(objective.hold_seconds)}"
    if not samples:
        return f"wanted {wanted}, but there is no sample"
    if not stretches:
        last = samples[-1]
        return (
            f"wanted {wanted}, beginning within {_seconds(objective.settle_seconds)} of the agent's end, "
            f"but was never so; {_value(last.value)} at {_seconds(last.at)}"
        )
    best = max(stretches, key=lambda stretch: stretch.length)
    until = f"then {best.broken_by}" if best.broken_by else "and the samples end there"
    return f"wanted {wanted}, but held only {_seconds(best.length)} from {_seconds(best.begin)}, {until}"


def _value(value: float | None) -> str:
    return "no value" if value is None else f"{value:.6g}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.6g} s"
