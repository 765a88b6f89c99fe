"""`evidence.json`: what was seen of a run. Together with `evaluation.json` it is all that a score is made from."""

from __future__ import annotations

from typing import Any, Literal

from itbc.contracts.answer import Answer
from itbc.contracts.evaluation import Entity
from itbc.contracts.shape import Shape


class Sample(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A point of a query: `at` in seconds after the agent's end; `value` is null where the query gave nothing."""

    at: float
    value: float | None


class Series(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The samples of one objective, in time order, `step_seconds` apart."""

    objective: str
    step_seconds: float
    samples: list[Sample]


class ObjectState(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Kubernetes object without `status` and `managedFields`; Secret values are replaced by their SHA-256."""

    entity: Entity
    uid: str
    object: dict[str, Any]


class SeenAlert(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An expected alert as it was seen firing, and how long after the injection."""

    name: str
    labels: dict[str, str]
    after_seconds: float


class AgentRun(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the agent's work went. `finished`: it ended by itself with exit code 0 within its time.

    `limits_reached` names what it wanted more of than it may have: `memory` (a process was ended), `processes`.
    `variables` (names) and `addresses` (`HOST:PORT`) are what the user granted it besides what the scenario does.
    """

    name: str
    outcome: Literal["finished", "timeout", "failed"]
    exit_code: int | None
    seconds: float
    answer: Answer | None
    answer_problem: str = ""
    limits_reached: list[str] = []
    variables: list[str] = []
    addresses: list[str] = []


class Evidence(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All observations of a run that evaluators use. `before` is the healthy baseline, `after` the end state."""

    version: Literal["itbc.evidence/1"] = "itbc.evidence/1"
    run: str
    scenario: str
    agent: AgentRun
    alerts: list[SeenAlert]
    series: list[Series]
    before: list[ObjectState]
    after: list[ObjectState]
