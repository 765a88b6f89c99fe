"""What a target is: where a plan can be made real, and with which stacks.

A target is a folder under `providers/` with one object of this protocol;
`itbc.cli.assembly` hands all of them to the compiler, which knows none by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from itbc.compiler.plan import Plan
from itbc.dsl.model import Signal
from itbc.dsl.source import Span
from itbc.stacks.synthesis import Declaration


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a target can provide. `hosts` are operating systems it has machines for."""

    nodes: int
    signals: frozenset[Signal]
    hosts: frozenset[str]
    builds_images: bool


@dataclass(frozen=True, slots=True)
class Material:
    """A file or folder of the artefacts: its path below `files/`, and the SHA-256 of its content."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class Materials:
    """What stacks refer to: the rules of each cluster, and the source of each image by application and name."""

    rules: Mapping[str, Material]
    images: Mapping[tuple[str, str], Material]


@dataclass(frozen=True, slots=True)
class StackUse:
    """A stack in its place.

    `inputs` maps an input variable to `STACK.OUTPUT` of an earlier stack, and
    `origins` what Terraform will name (`TYPE.NAME`) to what caused it.
    `lives_in` is the stack whose destruction takes all that is in this one
    along, where there is such a one: it goes first then, and nothing is taken down piece by piece.
    """

    declaration: Declaration
    needs: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, Span] = field(default_factory=dict)
    lives_in: str = ""

    @property
    def id(self) -> str:
        """The stack's id, which is its folder's name."""
        return self.declaration.properties.id


class Target(Protocol):
    """A place where environments stand."""

    @property
    def name(self) -> str:
        """What `--target` calls it."""
        ...

    @property
    def summary(self) -> str:
        """One sentence for help texts."""
        ...

    @property
    def abilities(self) -> Abilities:
        """What it can provide."""
        ...

    def stacks(self, plan: Plan, materials: Materials) -> Sequence[StackUse]:
        """The stacks that make a plan's environment, in an order that satisfies their needs.

        For every cluster there are `cluster-NAME` (outputs `kubeconfig`, `address`, `cluster`) and `telemetry-NAME`
        (outputs `prometheus`, `alertmanager`, and for each signal that is collected its name: the URL that an agent is
        shown, where the masks of the variable `masks` are applied).
        """
        ...


def cluster_stack(cluster: str) -> str:
    """The id of a cluster's stack."""
    return f"cluster-{cluster}"


def telemetry_stack(cluster: str) -> str:
    """The id of the stack that observes a cluster."""
    return f"telemetry-{cluster}"


def application_stack(cluster: str, application: str, part: int = 1) -> str:
    """The id of an application's stack; a large application is cut into parts."""
    return f"application-{cluster}-{application}" + (f"-{part}" if part > 1 else "")
