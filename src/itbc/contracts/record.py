"""`record.json` and `steps/NN-NAME.json`: the life of a run, step by step."""

from __future__ import annotations

from typing import Any, Literal

from itbc.contracts.score import Score
from itbc.contracts.shape import Origin, Shape

Stage = Literal["provisioning", "healthy", "injecting", "alerting", "ready", "working", "evaluating", "destroying"]
"""The stages of a run in their order (`queued` and `done` have no step of their own)."""

Fault = Literal["input", "environment", "injection", "alert", "agent", "evaluation", "interrupted", "itbc"]
"""Whose fault a failure is. Only `agent` counts against the agent."""


class Failure(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a run didn't get to its end."""

    stage: Stage
    fault: Fault
    message: str
    remedy: str = ""
    origin: Origin | None = None


class Step(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step, written once before it starts (`state` is `started`) and once after.

    `input` and `output` are JSON: a step is a function from one to the other, so another engine can run it.
    Times are RFC 3339 in UTC; `seconds` is from the monotonic clock.
    """

    version: Literal["itbc.step/1"] = "itbc.step/1"
    number: int
    name: str
    stage: Stage
    state: Literal["started", "done", "failed"]
    started: str
    ended: str | None = None
    seconds: float | None = None
    input: dict[str, Any] = {}
    output: dict[str, Any] = {}
    failure: Failure | None = None


class Record(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The summary of a run; `state` is the stage it is in, `done` or `failed`.

    `masks` are those of this run, besides the scenario's own.
    """

    version: Literal["itbc.record/1"] = "itbc.record/1"
    run: str
    scenario: str
    title: str
    persona: str
    target: str
    agent: str
    artefacts: str
    seed: int
    created: str
    expires: str
    state: Literal[
        "queued",
        "provisioning",
        "healthy",
        "injecting",
        "alerting",
        "ready",
        "working",
        "evaluating",
        "destroying",
        "done",
        "failed",
    ]
    destroyed: bool
    masks: list[str] = []
    failure: Failure | None = None
    score: Score | None = None
