"""`answer.json`: what an agent hands in."""

from __future__ import annotations

from typing import Literal

from itbc.contracts.shape import Shape


class Cause(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A thing the agent holds responsible. `cluster` may be left out where there is one."""

    kind: str
    name: str
    namespace: str = ""
    cluster: str = ""


class Answer(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The diagnosis: the whole set of root causes, and why, in the agent's own words."""

    version: Literal["itbc.answer/1"] = "itbc.answer/1"
    root_causes: list[Cause]
    explanation: str = ""
