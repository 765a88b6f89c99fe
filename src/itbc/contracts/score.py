"""`score.json`: the verdict and its reasons."""

from __future__ import annotations

from typing import Literal

from itbc.contracts.shape import Shape


class Verdict(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that was judged: passed or not, how much of it (0 to 1), and why in one sentence.

    `healthy` is the diagnosis of a scenario in which nothing is broken.
    """

    name: str
    kind: Literal["root-cause", "healthy", "objective", "safeguard"]
    passed: bool
    value: float
    reason: str


class Score(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The score of one run.

    `diagnosis` is the partial credit for the root causes (0 to 1), `mitigation`
    the share of objectives met, or 0 where a safeguard was broken. `passed`
    means every objective held and no safeguard was broken, and, where nothing
    is broken, that the agent said so; `diagnosed` means the exact set of root
    causes was named.
    """

    version: Literal["itbc.score/1"] = "itbc.score/1"
    run: str
    scenario: str
    agent: str
    passed: bool
    diagnosed: bool
    diagnosis: float
    mitigation: float
    verdicts: list[Verdict]
