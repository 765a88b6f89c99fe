"""The checked scenario: ⟨M metadata, E environment, T triggering alerts, D desired outcome⟩ and the truth.

Everything is resolved: names are replaced by what they mean, durations are in
seconds, quantities in base units, paths absolute. Each part keeps the span it
was written at, so that later stages can point at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from itbc.contracts.mask import Mask
from itbc.dsl.catalogue import FaultKind, FaultRequest, Touch
from itbc.dsl.kubernetes import CLUSTER_SCOPED
from itbc.dsl.source import Span

Persona = Literal["sre", "ciso", "finops"]
Signal = Literal["metrics", "alerts", "traces", "logs"]
Comparison = Literal["<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Metadata:
    """M: what the scenario is called and for whom."""

    title: str
    persona: Persona
    description: str
    span: Span


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """The identity of a declared Kubernetes object."""

    kind: str
    name: str
    namespace: str


@dataclass(frozen=True, slots=True)
class DeclaredObject:
    """A Kubernetes object from an application's manifests; `manifest` is the parsed YAML, namespace filled in."""

    ref: ObjectRef
    manifest: Mapping[str, Any]
    span: Span


@dataclass(frozen=True, slots=True)
class Image:
    """A container image built from source on this machine: `source` is the folder of a Go module's main package.

    `reference` is what manifests put into `image:`.
    """

    name: str
    reference: str
    source: Path
    span: Span


@dataclass(frozen=True, slots=True)
class Component:
    """A node of the application's topology."""

    name: str
    objects: tuple[ObjectRef, ...]
    calls: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Application:
    """A deployed application: its objects in the order they are applied, its images, its topology."""

    name: str
    namespace: str
    objects: tuple[DeclaredObject, ...]
    images: tuple[Image, ...]
    components: tuple[Component, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class AlertRule:
    """An alerting rule in Prometheus' own terms."""

    name: str
    expression: str
    pending_seconds: float
    severity: str
    labels: Mapping[str, str]
    summary: str
    span: Span


@dataclass(frozen=True, slots=True)
class Slo:
    """A service level objective: a PromQL expression and the bound it keeps."""

    name: str
    query: str
    comparison: Comparison
    bound: float
    span: Span


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Which signals are collected, and what of them an agent must not see."""

    signals: frozenset[Signal]
    masks: tuple[Mask, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Cluster:
    """E: a Kubernetes cluster with what runs in it."""

    name: str
    nodes: int
    applications: tuple[Application, ...]
    telemetry: Telemetry
    alerts: tuple[AlertRule, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Host:
    """E: a machine with an operating system, reached over SSH."""

    name: str
    os: str
    span: Span


@dataclass(frozen=True, slots=True)
class Environment:
    """E: everything that stands."""

    clusters: tuple[Cluster, ...]
    hosts: tuple[Host, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Fault:
    """What breaks: a catalogue entry, its typed request, and the parts of objects it will touch."""

    name: str
    kind: FaultKind
    request: FaultRequest
    touches: tuple[Touch, ...]
    span: Span

    def place_of(self, touch: Touch) -> ObjectRef:
        """The object that a touch is of: in the fault's own namespace unless it says another one."""
        namespace = touch.namespace or self.request.namespace
        return ObjectRef(touch.kind, touch.name, "" if touch.kind in CLUSTER_SCOPED else namespace)


@dataclass(frozen=True, slots=True)
class ExpectedAlert:
    """T: an alert that must fire because of the fault."""

    rule: AlertRule
    cluster: str
    labels: Mapping[str, str]
    within_seconds: float
    span: Span


@dataclass(frozen=True, slots=True)
class Objective:
    """D: an SLO that must hold without a gap; `baseline` says that it is met before anything is broken too."""

    name: str
    slo: Slo
    cluster: str
    hold_seconds: float
    settle_seconds: float
    baseline: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Unchanged:
    """All objects of a kind in a cluster's application namespaces."""

    cluster: str
    namespace: str
    kind: str


@dataclass(frozen=True, slots=True)
class Safeguard:
    """D: what a repair must leave as it was."""

    name: str
    unchanged: tuple[Unchanged, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Desired:
    """D: what "solved" means."""

    goal: str
    within_seconds: float
    objectives: tuple[Objective, ...]
    safeguards: tuple[Safeguard, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Cause:
    """A root cause: the object at fault and the cluster it is in."""

    cluster: str
    ref: ObjectRef
    span: Span


@dataclass(frozen=True, slots=True)
class Truth:
    """The exact root causes and the components from there to the alert, cause first."""

    root_causes: tuple[Cause, ...]
    chain: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SolutionStep:
    """A command of the reference solution or of a mutant, run with the agent's rights."""

    name: str
    cluster: str
    command: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Mutant:
    """A repair that isn't one, and why; its steps take the place of the solution's."""

    name: str
    why: str
    steps: tuple[SolutionStep, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Grant:
    """What the agent may do in a namespace, in Kubernetes RBAC's words."""

    cluster: str
    namespace: str
    api_groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Scenario:
    """⟨M, E, T, D⟩, the faults, the truth, the reference solution, its mutants and what the agent may do."""

    name: str
    metadata: Metadata
    environment: Environment
    faults: tuple[Fault, ...]
    triggers: tuple[ExpectedAlert, ...]
    desired: Desired
    truth: Truth
    solution: tuple[SolutionStep, ...]
    mutants: tuple[Mutant, ...]
    grants: tuple[Grant, ...]
    span: Span
