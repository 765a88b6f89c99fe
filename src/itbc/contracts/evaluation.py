"""`evaluation.json`: the truth and what "solved" means. Never shown to an agent."""

from __future__ import annotations

from typing import Literal

from itbc.contracts.shape import Origin, Shape


class Entity(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A thing that can be a cause, as an agent would name it: `Deployment` `checkout` in namespace `shop`."""

    cluster: str
    namespace: str
    kind: str
    name: str


class Component(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A node of the topology: a component of the application and the objects it is made of."""

    name: str
    entities: list[Entity]
    calls: list[str]


class Truth(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why it broke: the exact set of root causes, and the way from there to the alert through the topology."""

    root_causes: list[Entity]
    chain: list[str]
    topology: list[Component]


class Objective(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A PromQL expression that must stay on the right side of a bound for `hold_seconds` without a gap.

    The hold must begin within `settle_seconds` of the agent's end. A missing
    sample counts as a violation: silence is not health.
    """

    name: str
    cluster: str
    query: str
    comparison: Literal["<", "<=", ">", ">="]
    bound: float
    hold_seconds: float
    settle_seconds: float
    origin: Origin


class Exemption(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of an object that a repair may change, as a JSON Pointer pattern.

    `*` stands for one whole segment; list items are addressed by their `name`
    where they have one: `/spec/template/spec/containers/checkout/env/PAYMENT_ADDR`.
    """

    entity: Entity
    pointer: str


class Safeguard(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be as it was in the healthy baseline: same objects, same identity (uid), same spec."""

    name: str
    cluster: str
    namespace: str
    kinds: list[str]
    exemptions: list[Exemption]
    origin: Origin


class Evaluation(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The evaluator's whole input besides the evidence."""

    version: Literal["itbc.evaluation/1"] = "itbc.evaluation/1"
    scenario: str
    truth: Truth
    objectives: list[Objective]
    safeguards: list[Safeguard]
