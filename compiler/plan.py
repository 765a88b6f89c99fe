"""The plan: what happens in a run, as typed steps with ids and needs.

It is the scenario in the order of its life, with everything that a target or
an evaluator needs worked out, and in nobody's words but the domain's own: how
each target does a step is decided after this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from itbc.contracts.mask import Mask
from itbc.dsl.catalogue import Change, Effect
from itbc.dsl.model import (
    AlertRule,
    Cause,
    Component,
    DeclaredObject,
    Grant,
    Metadata,
    Objective,
    ObjectRef,
    Signal,
)
from itbc.dsl.source import Span


@dataclass(frozen=True, slots=True)
class CreateCluster:
    """A Kubernetes cluster comes up."""

    id: str
    needs: tuple[str, ...]
    cluster: str
    nodes: int
    span: Span


@dataclass(frozen=True, slots=True)
class ObserveCluster:
    """A cluster's signals are collected, and its alerting rules evaluated."""

    id: str
    needs: tuple[str, ...]
    cluster: str
    signals: tuple[Signal, ...]
    masks: tuple[Mask, ...]
    namespaces: tuple[str, ...]
    rules: tuple[AlertRule, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A file that an image is built from: its path below the source folder, with `/`, and what is in it."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class BuildImage:
    """An image to build: `digest` is the SHA-256 that stands for all `files`."""

    name: str
    reference: str
    files: tuple[SourceEntry, ...]
    digest: str
    span: Span


@dataclass(frozen=True, slots=True)
class DeployApplication:
    """An application is deployed: its images are built, its objects applied phase after phase."""

    id: str
    needs: tuple[str, ...]
    cluster: str
    application: str
    namespace: str
    images: tuple[BuildImage, ...]
    phases: tuple[tuple[DeclaredObject, ...], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Condition:
    """A PromQL expression of which every sample must be non-zero, and there must be one."""

    name: str
    cluster: str
    query: str
    within_seconds: float
    span: Span


@dataclass(frozen=True, slots=True)
class AwaitHealthy:
    """All of it is seen healthy and quiet."""

    id: str
    needs: tuple[str, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """A fault is injected and its effect proven."""

    id: str
    needs: tuple[str, ...]
    fault: str
    kind: str
    cluster: str
    namespace: str
    changes: tuple[Change, ...]
    effect: Effect
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectAlert:
    """An alert is seen firing because of the faults."""

    id: str
    needs: tuple[str, ...]
    alert: str
    cluster: str
    labels: Mapping[str, str]
    within_seconds: float
    span: Span


@dataclass(frozen=True, slots=True)
class Node:
    """A component of the topology and the cluster it is in."""

    cluster: str
    component: Component


@dataclass(frozen=True, slots=True)
class AgentWork:
    """The agent gets its goal and its rights, and works."""

    id: str
    needs: tuple[str, ...]
    goal: str
    within_seconds: float
    grants: tuple[Grant, ...]
    topology: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Repair:
    """A command of the reference solution, which takes the agent's place when a scenario is verified."""

    id: str
    needs: tuple[str, ...]
    cluster: str
    command: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class WrongRepair:
    """A repair that must fail, to be played instead of the solution when a scenario is verified."""

    name: str
    why: str
    repairs: tuple[Repair, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Exempt:
    """A part of an object that a repair may change (a JSON Pointer pattern)."""

    ref: ObjectRef
    pointer: str


@dataclass(frozen=True, slots=True)
class Keep:
    """Objects that must be as they were in the healthy state."""

    name: str
    cluster: str
    namespace: str
    kinds: tuple[str, ...]
    exempt: tuple[Exempt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Judge:
    """The end state is scored against the truth."""

    id: str
    needs: tuple[str, ...]
    root_causes: tuple[Cause, ...]
    chain: tuple[str, ...]
    topology: tuple[Node, ...]
    objectives: tuple[Objective, ...]
    safeguards: tuple[Keep, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Plan:
    """A scenario on a target. Steps of a kind are in the order they are to be done in."""

    scenario: str
    metadata: Metadata
    target: str
    clusters: tuple[CreateCluster, ...]
    telemetry: tuple[ObserveCluster, ...]
    applications: tuple[DeployApplication, ...]
    healthy: AwaitHealthy
    faults: tuple[Break, ...]
    alerts: tuple[ExpectAlert, ...]
    work: AgentWork
    repairs: tuple[Repair, ...]
    mutants: tuple[WrongRepair, ...]
    judge: Judge

    def namespaces(self, cluster: str) -> tuple[str, ...]:
        """The namespaces of a cluster's applications, sorted."""
        return tuple(sorted({step.namespace for step in self.applications if step.cluster == cluster}))
