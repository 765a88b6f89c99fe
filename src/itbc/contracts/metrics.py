"""`metrics.json`: how the objectives went through the whole incident, to be looked at. No score is made from it."""

from __future__ import annotations

from typing import Literal

from itbc.contracts.shape import Shape


class Course(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The values of one objective's query, one a step; null where it gave nothing."""

    objective: str
    values: list[float | None]


class Metrics(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The courses of all objectives that could be asked for.

    The first value of each is that of `begin` (RFC 3339), when the healthy
    baseline was waited for; each next one is `step_seconds` later. `problems`
    says what couldn't be recorded, and why.
    """

    version: Literal["itbc.metrics/1"] = "itbc.metrics/1"
    run: str
    scenario: str
    begin: str
    step_seconds: float
    courses: list[Course]
    problems: list[str] = []
