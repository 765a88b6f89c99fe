"""Grants, the reference solution and its mutants."""

from __future__ import annotations

from itbc.dsl import codes
from itbc.dsl.check.context import Shared, World
from itbc.dsl.check.environment import cluster_of, find_cluster
from itbc.dsl.diagnostics import listing, nearest, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.kubernetes import KIND_WORDS, KINDS, RESOURCES, SHORT_NAMES, VERBS
from itbc.dsl.model import Grant, Mutant, SolutionStep
from itbc.dsl.names import unique


def grants(scenario: Entry, world: World, shared: Shared) -> list[Grant]:
    """What the agent may do, once for each namespace that is named, or that the cluster's applications are in."""
    made: list[Grant] = []
    for entry in unique(scenario.children("grant"), shared.sink):
        made.extend(_grant(entry, world, shared))
    return made


def _grant(entry: Entry, world: World, shared: Shared) -> list[Grant]:
    reference = entry.value("cluster")
    if reference is None:
        return []
    sink = shared.sink
    for name in ("resources", "verbs"):
        if name not in entry.names and name not in entry.broken and not entry.damaged:
            sink.report(
                codes.MISSING_ATTRIBUTE,
                entry.header,
                f"a grant in a cluster needs `{name}`",
                help=f"add `{name} = [ … ]`",
            )
    cluster = find_cluster(reference.data, world, sink)
    given = entry.value("api_groups")
    resources = [
        item.data for item in entry.items("resources") if _resource(item, shared, other_groups=given is not None)
    ]
    verbs = [item.data for item in entry.items("verbs") if _verb(item, shared)]
    if given is not None:
        groups = [item.data for item in entry.items("api_groups")]
    else:
        groups = sorted(
            {RESOURCES[resource.split("/")[0]] for resource in resources if resource.split("/")[0] in RESOURCES}
        )
    if cluster is None or not resources or not verbs:
        return []
    if entry.value("namespaces") is not None:
        namespaces = [item.data for item in entry.items("namespaces")]
    else:
        namespaces = [application.namespace for application in cluster.cluster.applications]
    return [
        Grant(cluster.cluster.name, namespace, tuple(groups), tuple(resources), tuple(verbs), entry.header)
        for namespace in dict.fromkeys(namespaces)
    ]


def _resource(item: Value, shared: Shared, *, other_groups: bool) -> bool:
    """Whether a resource is one of the API's, or may be one of another API group."""
    base = item.data.split("/")[0]
    if base in RESOURCES or base == "*":
        return True
    word = str(base).lower()
    kind = KIND_WORDS.get(SHORT_NAMES.get(word, word))
    near = KINDS[kind][0] if kind else nearest(base, list(RESOURCES))
    if other_groups and near is None:
        return True
    better = near + item.data[len(base) :] if near else ""
    shared.sink.report(
        codes.UNKNOWN_RESOURCE,
        item.span,
        f"the Kubernetes API has no resource `{base}`",
        help=f"did you mean `{better}`?" if better else "for a resource of an API extension, give its `api_groups`",
        fix=replace(item.span, f'"{better}"') if better else None,
    )
    return False


def _verb(item: Value, shared: Shared) -> bool:
    if item.data in VERBS or item.data == "*":
        return True
    near = nearest(item.data, VERBS)
    shared.sink.report(
        codes.UNKNOWN_KEYWORD,
        item.span,
        f"`{item.data}` isn't a verb of Kubernetes RBAC",
        help=f"did you mean `{near}`?" if near else f"the verbs are {listing(VERBS)}",
        fix=replace(item.span, f'"{near}"') if near else None,
    )
    return False


def solution(scenario: Entry, world: World, shared: Shared) -> list[SolutionStep]:
    """The commands of the reference solution in order."""
    entry = scenario.child("solution")
    return _steps(entry, world, shared) if entry is not None else []


def mutants(scenario: Entry, world: World, shared: Shared) -> list[Mutant]:
    """The repairs that must fail."""
    made: list[Mutant] = []
    for entry in unique(scenario.children("mutant"), shared.sink):
        steps = _steps(entry, world, shared)
        why = entry.value("why")
        if why is not None:
            made.append(Mutant(entry.label, why.data, tuple(steps), entry.header))
    return made


def _steps(entry: Entry, world: World, shared: Shared) -> list[SolutionStep]:
    made: list[SolutionStep] = []
    for step in unique(entry.children("step"), shared.sink):
        cluster = cluster_of(step, world, shared.sink)
        command = step.value("command")
        if cluster is not None and command is not None:
            words = tuple(item.data for item in step.items("command"))
            made.append(SolutionStep(step.label, cluster.cluster.name, words, step.header))
    return made
