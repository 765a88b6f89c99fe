"""The truth against the faults, the topology and the alerts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from itbc.dsl import codes
from itbc.dsl.check.context import ClusterFacts, Shared, World
from itbc.dsl.check.environment import find_cluster
from itbc.dsl.check.objects import resolve_object
from itbc.dsl.conversion import IDENTIFIER
from itbc.dsl.diagnostics import listing, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.model import Cause, ExpectedAlert, Fault, ObjectRef, Truth
from itbc.dsl.names import unknown
from itbc.dsl.source import Span
from itbc.dsl.syntax import Reference


def truth(
    scenario: Entry,
    world: World,
    faults: Sequence[Fault],
    all_faults: bool,
    triggers: Sequence[ExpectedAlert],
    shared: Shared,
) -> Truth | None:
    """The truth, checked against everything else. `all_faults` says that no fault is missing from `faults`."""
    entry = scenario.child("truth")
    if entry is None:
        return None
    causes, whole = _causes(entry, world, shared)
    if all_faults:
        _against_faults(entry, causes, whole, faults, shared)
    chain = _chain(entry, world, shared)
    if chain is not None and _against_topology(chain, world, shared):
        _start(chain, causes, whole, world, shared)
        _end(chain, scenario, triggers, shared)
    return Truth(tuple(causes), tuple(item.data for item in chain or ()), entry.header)


def _causes(entry: Entry, world: World, shared: Shared) -> tuple[list[Cause], bool]:
    listed = entry.value("root_causes")
    causes: list[Cause] = []
    whole = listed is not None and listed.complete
    for item in entry.items("root_causes"):
        reference: Reference = item.data
        if reference.parts[0].text != "cluster":
            whole = False
            continue
        cluster = find_cluster(reference, world, shared.sink)
        declared = None
        if cluster is not None:
            where = f" in cluster `{cluster.cluster.name}`"
            declared = resolve_object(reference.parts, cluster.objects(), cluster.complete, where, shared.sink)
        if cluster is None or declared is None:
            whole = False
            continue
        causes.append(Cause(cluster.cluster.name, declared.ref, item.span))
    return causes, whole


def _key(cluster: str, ref: ObjectRef) -> tuple[str, ObjectRef]:
    return cluster, ref


def _against_faults(
    entry: Entry, causes: Sequence[Cause], whole: bool, faults: Sequence[Fault], shared: Shared
) -> None:
    """Every root cause is touched by a fault, and everything touched is a root cause. One message for a swapped name."""
    touched: dict[tuple[str, ObjectRef], Fault] = {}
    for fault in faults:
        for touch in fault.touches:
            ref = ObjectRef(touch.kind, touch.name, fault.request.namespace)
            touched.setdefault(_key(fault.request.cluster, ref), fault)
    named = {_key(cause.cluster, cause.ref) for cause in causes}
    missing = [key for key in touched if key not in named]
    wrong = [cause for cause in causes if _key(cause.cluster, cause.ref) not in touched]
    for cause in wrong:
        better = _written(missing[0]) if len(missing) == 1 and len(wrong) == 1 else ""
        shared.sink.report(
            codes.CAUSE_UNTOUCHED,
            cause.span,
            f"no fault changes {cause.ref.kind} `{cause.ref.name}`",
            secondary=[
                (fault.span, f"this fault changes {ref.kind} `{ref.name}`") for (_, ref), fault in touched.items()
            ],
            help=f"did you mean `{better}`?"
            if better
            else "name what the faults change, or add a fault that changes this",
            fix=replace(cause.span, better) if better else None,
        )
    listed = entry.value("root_causes")
    if wrong or not whole or listed is None:
        return
    for (cluster, ref), fault in touched.items():
        if (cluster, ref) in missing:
            shared.sink.report(
                codes.TOUCHED_NOT_CAUSE,
                listed.span,
                f"{ref.kind} `{ref.name}` isn't named here",
                secondary=((fault.span, f"fault `{fault.name}` changes it"),),
                help=f"add `{_written((cluster, ref))}`",
            )


def _written(key: tuple[str, ObjectRef]) -> str:
    """A root cause as a reference is written."""
    cluster, ref = key
    plain = IDENTIFIER.fullmatch(ref.name) is not None
    return f"cluster.{cluster}.{ref.kind.lower()}" + (f".{ref.name}" if plain else f'["{ref.name}"]')


def _chain(entry: Entry, world: World, shared: Shared) -> list[Value] | None:
    """The components of the chain, or None where one of them isn't known."""
    listed = entry.value("chain")
    if listed is None:
        return None
    known = {name for cluster in world.clusters.values() for name in _calls(cluster)}
    whole = all(cluster.complete for cluster in world.clusters.values()) and world.complete and not world.hosts
    good = listed.complete
    for item in entry.items("chain"):
        if item.data not in known:
            good = False
            if whole:
                unknown("component", item.data, item.span, sorted(known), shared.sink)
    return list(entry.items("chain")) if good else None


def _calls(cluster: ClusterFacts) -> dict[str, tuple[str, ...]]:
    """Which components each component of a cluster calls."""
    return {part.name: part.calls for application in cluster.cluster.applications for part in application.components}


def _against_topology(chain: Sequence[Value], world: World, shared: Shared) -> bool:
    """Whether each component of the chain calls the one before."""
    good = True
    calls: dict[str, set[str]] = {}
    places: dict[str, Span] = {}
    for cluster in world.clusters.values():
        for application in cluster.cluster.applications:
            for part in application.components:
                calls.setdefault(part.name, set()).update(part.calls)
                places.setdefault(part.name, part.span)
    for before, after in pairwise(chain):
        if before.data in calls[after.data]:
            continue
        good = False
        callers = sorted(name for name, called in calls.items() if before.data in called)
        backwards = after.data in calls[before.data]
        remedy = (
            "the chain goes from the cause to the alert, so against the calls"
            if backwards
            else (
                f"`{before.data}` is called by {listing(callers)}"
                if callers
                else f"nothing calls `{before.data}`: the chain ends with it"
            )
        )
        shared.sink.report(
            codes.CHAIN_BROKEN,
            after.span,
            f"`{after.data}` doesn't call `{before.data}`",
            secondary=(
                (places[after.data], f"`{after.data}` calls {listing(sorted(calls[after.data])) or 'nothing'}"),
            ),
            help=remedy,
        )
    return good


def _start(chain: Sequence[Value], causes: Sequence[Cause], whole: bool, world: World, shared: Shared) -> None:
    if not whole or not causes or not chain:
        return
    owners = {owner for cause in causes if (owner := world.clusters[cause.cluster].component_of(cause.ref)) is not None}
    if chain[0].data in owners:
        return
    if owners:
        message = f"the root cause is in {listing(sorted(owners))}, not in `{chain[0].data}`"
        remedy = f"begin with {listing(sorted(owners))}"
    else:
        message = "the root cause belongs to no component"
        remedy = "add the object to a component's `objects`"
    shared.sink.report(
        codes.CHAIN_START, chain[0].span, message, secondary=((causes[0].span, "the root cause"),), help=remedy
    )


def _end(chain: Sequence[Value], scenario: Entry, triggers: Sequence[ExpectedAlert], shared: Shared) -> None:
    """The last component is the one an alert is about, where the alerts say so with a `service` label."""
    services = {trigger.labels["service"]: trigger for trigger in triggers if "service" in trigger.labels}
    trigger = scenario.child("trigger")
    if not chain or not services or trigger is None or len(triggers) < len(trigger.children("alert")):
        return
    if len(services) < len(triggers) or chain[-1].data in services:
        return
    shared.sink.report(
        codes.CHAIN_END,
        chain[-1].span,
        f"no expected alert has the label `service` = `{chain[-1].data}`",
        secondary=[(found.span, f"this one has `{service}`") for service, found in services.items()],
        help=f"end the chain with {listing(sorted(services))}, or correct the label",
    )
