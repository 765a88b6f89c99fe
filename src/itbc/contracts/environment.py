"""`environment.json`: what the runner applies, waits for and breaks, in order."""

from __future__ import annotations

from typing import Literal

from itbc.contracts.shape import Origin, Shape


class Stack(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Terraform root module.

    `folder` is relative to the artefact folder. `inputs` maps each input
    variable to `STACK.OUTPUT` of an earlier stack; the runner also sets
    `run_id`, `state_dir`, `expires` (RFC 3339) and `masks` (see
    `itbc.contracts.mask`) for every stack that declares them. `lives_in` is the
    stack whose destruction takes all that is in this one along; it goes first.
    """

    id: str
    folder: str
    needs: list[str] = []
    inputs: dict[str, str] = {}
    lives_in: str = ""


class Cluster(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cluster of the environment and where its accesses come from.

    Each access names an output `STACK.OUTPUT`: `kubeconfig` (a path, admin
    rights), `prometheus` and `alertmanager` (base URLs). `signals` names, by
    signal, the URL that an agent is shown; the stack `telemetry` sees to it
    that `masks` are applied there.
    """

    name: str
    kubeconfig: str
    prometheus: str
    alertmanager: str
    namespaces: list[str]
    telemetry: str = ""
    signals: dict[str, str] = {}
    masks: list[str] = []


class Baseline(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A PromQL expression that must give at least one sample, all non-zero, before a fault and after its undo."""

    name: str
    cluster: str
    query: str
    within_seconds: float
    origin: Origin


class Fault(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault and its three plays (paths relative to the artefact folder's `ansible/project`)."""

    id: str
    kind: str
    cluster: str
    inject: str
    prove: str
    undo: str
    origin: Origin


class ExpectedAlert(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An alert that must be seen firing, with at least these labels, this soon after the injection."""

    name: str
    cluster: str
    labels: dict[str, str]
    within_seconds: float
    origin: Origin


class Grant(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One Kubernetes RBAC rule that the agent's own identity gets, in one namespace."""

    cluster: str
    namespace: str
    api_groups: list[str]
    resources: list[str]
    verbs: list[str]


class NamedObject(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Kubernetes object by its names; without a namespace where its kind has none."""

    kind: str
    namespace: str
    name: str


class Component(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A component of an application: the objects it is made of, and the components that it calls."""

    cluster: str
    name: str
    objects: list[NamedObject]
    calls: list[str]


class Topology(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`topology.json` of an agent's workspace: what the applications are made of, as declared, and what calls what."""

    version: Literal["itbc.topology/1"] = "itbc.topology/1"
    components: list[Component]


class Task(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agent is told and may do."""

    goal: str
    within_seconds: float
    grants: list[Grant]
    topology: list[Component] = []


class Repair(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step of the solution or of a mutant: a command line run with the agent's rights in its workspace."""

    cluster: str
    command: list[str]
    origin: Origin


class Mutant(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A repair that must fail, and why: what `--agent mutant:NAME` does instead of the solution."""

    name: str
    why: str
    steps: list[Repair]
    origin: Origin


class Environment(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a run needs except the truth; `stacks` are in an order that satisfies `needs`."""

    version: Literal["itbc.environment/1"] = "itbc.environment/1"
    scenario: str
    target: str
    stacks: list[Stack]
    clusters: list[Cluster]
    baseline: list[Baseline]
    faults: list[Fault]
    alerts: list[ExpectedAlert]
    task: Task
    solution: list[Repair]
    mutants: list[Mutant] = []
