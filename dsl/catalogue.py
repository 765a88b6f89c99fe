"""What can be broken: the entries of the fault catalogue, as the checker and the compiler see them.

The entries themselves live in `providers/faults/`, one family a file; whoever
assembles the program hands the catalogue in, so the language knows no provider.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

ParameterType = Literal["string", "integer", "number", "bool", "duration", "quantity", "name"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a fault kind. Durations arrive in seconds, quantities in base units (bytes, cores)."""

    name: str
    type: ParameterType
    doc: str
    required: bool = True
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class FaultRequest:
    """One use of a fault kind: the object it aims at, as declared in the application's manifests, and its parameters.

    `target_kind` is the Kubernetes kind (`Deployment`); `manifest` is the whole declared object.
    """

    cluster: str
    namespace: str
    target_kind: str
    target_name: str
    manifest: Mapping[str, Any]
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Touch:
    """A part of an object that a fault changes, as a JSON Pointer pattern (see `contracts.evaluation.Exemption`)."""

    kind: str
    name: str
    pointer: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a fault can't be used as asked. `parameter` is the argument to point at, or empty for the target."""

    parameter: str
    message: str
    help: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one object, in the Kubernetes API's own words.

    `patch` is an RFC 6902 JSON patch computed against the declared object. The
    inject play saves the live object before it and the undo play restores that copy.
    """

    api_version: str
    kind: str
    name: str
    namespace: str
    patch: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Effect:
    """What proves that a fault took hold: every condition must become true within `within_seconds`.

    `rollout` names workloads (kind, name) whose rollout must have gone through;
    `pods` is a label selector, and `pod_expression` a JMESPath expression that
    must be true of each such pod that isn't being deleted.
    """

    within_seconds: float
    rollout: Sequence[tuple[str, str]] = ()
    pods: Mapping[str, str] = field(default_factory=dict)
    pod_expression: str = ""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """An entry of the catalogue.

    The callables are pure: `problems` says why a request can't work against
    the declared object, `touches` what it will change, `changes` how, and
    `effect` what proves it.
    """

    kind: str
    targets: frozenset[str]
    parameters: tuple[Parameter, ...]
    summary: str
    doc: str
    problems: Callable[[FaultRequest], Sequence[Problem]]
    touches: Callable[[FaultRequest], Sequence[Touch]]
    changes: Callable[[FaultRequest], Sequence[Change]]
    effect: Callable[[FaultRequest], Effect]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All fault kinds by name."""

    faults: Mapping[str, FaultKind]
