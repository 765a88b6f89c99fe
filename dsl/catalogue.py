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
    """A parameter of a fault kind. Durations arrive in seconds, quantities in base units (bytes, cores).

    `severity` says, where the parameter decides how bad it gets, which way worse is.
    """

    name: str
    type: ParameterType
    doc: str
    required: bool = True
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    severity: str = ""


@dataclass(frozen=True, slots=True)
class FaultRequest:
    """One use of a fault kind: the object it aims at, as declared in the application's manifests, and its parameters.

    `target_kind` is the Kubernetes kind (`Deployment`); `manifest` is the
    whole declared object, `around` all declared objects of its cluster.
    """

    cluster: str
    namespace: str
    target_kind: str
    target_name: str
    manifest: Mapping[str, Any]
    parameters: Mapping[str, Any]
    around: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Touch:
    """A part of an object that a fault changes, as a JSON Pointer pattern (see `contracts.evaluation.Exemption`).

    The empty pointer is the whole object: what a fault creates. It is in the
    fault's own namespace unless it says another one.
    """

    kind: str
    name: str
    pointer: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a fault can't be used as asked. `parameter` is the argument to point at, or empty for the target."""

    parameter: str
    message: str
    help: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one object, in the Kubernetes API's own words.

    An object that is there gets `patch`, an RFC 6902 JSON patch computed
    against the declared object; the inject play saves the live object before
    it and the undo play restores that copy. An object that is to be there
    beside what is declared is `created` whole, and the undo deletes it.
    """

    api_version: str
    kind: str
    name: str
    namespace: str
    patch: Sequence[Mapping[str, Any]] = ()
    created: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LiveCondition:
    """What must be so of live objects of a kind: of the one called `name`, or of all that have `labels`.

    `expression` is a JMESPath expression over the list of them that must be
    `true`; `what` says in words what that means. They are in the fault's own
    namespace unless it says another one.
    """

    api_version: str
    kind: str
    expression: str
    what: str
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What proves that a fault took hold, and that it is undone.

    All of `proof` must become true within `within_seconds`, and stay true for
    `steady_seconds` where something passing looks the same at first. After an
    undo all of `recovery` must become true within `within_seconds`.
    """

    within_seconds: float
    proof: Sequence[LiveCondition]
    recovery: Sequence[LiveCondition]
    steady_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class FaultKind:
    """An entry of the catalogue.

    The callables are pure: `problems` says why a request can't work against
    the declared object, `touches` what it will change, `changes` how, and
    `effect` what proves it. `shows` says what can be seen from outside, and
    `example` is a request that works: for the kind's page and its tests. A
    `benign` kind breaks nothing, though alerts may fire: what it touches is no
    root cause.
    """

    kind: str
    targets: frozenset[str]
    parameters: tuple[Parameter, ...]
    summary: str
    doc: str
    shows: str
    example: FaultRequest
    problems: Callable[[FaultRequest], Sequence[Problem]]
    touches: Callable[[FaultRequest], Sequence[Touch]]
    changes: Callable[[FaultRequest], Sequence[Change]]
    effect: Callable[[FaultRequest], Effect]
    benign: bool = False


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All fault kinds by name."""

    faults: Mapping[str, FaultKind]
