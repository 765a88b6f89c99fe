"""The truth against the faults, the topology and the alerts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from itbc.dsl import codes
from itbc.dsl.check.context import ClusterFacts, Shared, World
from itbc.dsl.check.environment import find_cluster
from itbc.dsl.check.objects import Pool
from itbc.dsl.conversion import IDENTIFIER
from itbc.dsl.diagnostics import listing, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.kubernetes import CLUSTER_SCOPED
from itbc.dsl.model import Cause, ExpectedAlert, Fault, ObjectRef, Truth
from itbc.dsl.names import unknown
from itbc.dsl.source import Span
from itbc.dsl.syntax import Reference


def truth(
    scenario: Entry,
    world: World,
    faults: Sequence[Fault],
    triggers: Sequence[ExpectedAlert],
    shared: Shared,
    *,
    all_faults: bool,
) -> Truth | None:
    """The truth, checked against everything else. `all_faults` says that no fault is missing from `faults`."""
    entry = scenario.child("truth")
    if entry is None:
        return None
    touched = _touched(faults)
    causes, whole = _causes(entry, world, touched, shared, all_faults=all_faults)
    if all_faults and not _against_faults(entry, causes, touched, shared, whole=whole):
        whole = False
    chain = _chain(entry, world, shared)
    if chain is not None and _against_topology(chain, world, shared):
        if whole:
            _start(chain, causes, touched, world, shared)
        _end(chain, scenario, triggers, shared)
    return Truth(tuple(causes), tuple(item.data for item in chain or ()), entry.header)


_Key: TypeAlias = tuple[str, ObjectRef]
"""A cluster's name and an object in it."""


def _touched(faults: Sequence[Fault]) -> dict[_Key, Fault]:
    """What the faults change or create, each with the first fault that does."""
    touched: dict[_Key, Fault] = {}
    for fault in faults:
        for touch in fault.touches:
            ref = ObjectRef(touch.kind, touch.name, "" if touch.kind in CLUSTER_SCOPED else fault.request.namespace)
            touched.setdefault((fault.request.cluster, ref), fault)
    return touched


def _causes(
    entry: Entry, world: World, touched: Mapping[_Key, Fault], shared: Shared, *, all_faults: bool
) -> tuple[list[Cause], bool]:
    """The root causes that could be understood, and whether that is all of them."""
    listed = entry.value("root_causes")
    causes: list[Cause] = []
    whole = listed is not None and listed.complete
    for item in entry.items("root_causes"):
        cause = _cause(item, world, touched, shared, all_faults=all_faults)
        if cause is None:
            whole = False
        else:
            causes.append(cause)
    return causes, whole


def _cause(
    item: Value, world: World, touched: Mapping[_Key, Fault], shared: Shared, *, all_faults: bool
) -> Cause | None:
    reference: Reference = item.data
    if reference.parts[0].text != "cluster":
        return None
    cluster = find_cluster(reference, world, shared.sink)
    if cluster is None:
        return None
    word, name = reference.parts[-2].text, reference.parts[-1].text
    for place, ref in touched:  # a fault may create its object, which no manifest declares
        if (place, ref.kind.lower(), ref.name) == (cluster.cluster.name, word, name):
            return Cause(place, ref, item.span)
    same_kind = any(declared.ref.kind.lower() == word for declared in cluster.objects())
    complete = cluster.complete and (all_faults or same_kind)  # a fault that wasn't understood may create it
    pool = Pool(cluster.objects(), complete, f" in cluster `{cluster.cluster.name}`")
    declared = pool.find(reference.parts, shared.sink)
    return None if declared is None else Cause(cluster.cluster.name, declared.ref, item.span)


def _against_faults(
    entry: Entry, causes: Sequence[Cause], touched: Mapping[_Key, Fault], shared: Shared, *, whole: bool
) -> bool:
    """Every root cause is touched by a fault, and everything touched is a root cause. One message for a swapped name.

    Returns whether every root cause is touched.
    """
    named = {(cause.cluster, cause.ref) for cause in causes}
    missing = [key for key in touched if key not in named]
    wrong = [cause for cause in causes if (cause.cluster, cause.ref) not in touched]
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
        return not wrong
    for key in missing:
        cluster, ref = key
        shared.sink.report(
            codes.TOUCHED_NOT_CAUSE,
            listed.span,
            f"{ref.kind} `{ref.name}` isn't named here",
            secondary=((touched[key].span, f"fault `{touched[key].name}` changes it"),),
            help=f"add `{_written((cluster, ref))}`",
        )
    return True


def _written(key: _Key) -> str:
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


def _start(
    chain: Sequence[Value], causes: Sequence[Cause], touched: Mapping[_Key, Fault], world: World, shared: Shared
) -> None:
    if not causes or not chain:
        return
    owners = {owner for cause in causes if (owner := _owner(cause, touched, world)) is not None}
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


def _owner(cause: Cause, touched: Mapping[_Key, Fault], world: World) -> str | None:
    """The component of a root cause; for what a fault creates, that of the object the fault aims at."""
    cluster = world.clusters[cause.cluster]
    owner = cluster.component_of(cause.ref)
    fault = touched.get((cause.cluster, cause.ref))
    if owner is None and fault is not None:
        request = fault.request
        owner = cluster.component_of(ObjectRef(request.target_kind, request.target_name, request.namespace))
    return owner


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
