"""The chain from the root cause to the alert, against the topology and the alerts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from itbc.dsl import codes
from itbc.dsl.check.context import ClusterFacts, Shared, World
from itbc.dsl.diagnostics import listing
from itbc.dsl.entries import Entry, Value
from itbc.dsl.model import Cause, ExpectedAlert, Fault, ObjectRef
from itbc.dsl.names import unknown
from itbc.dsl.source import Span

Key: TypeAlias = tuple[str, ObjectRef]
"""A cluster's name and an object in it."""


def known_chain(entry: Entry, world: World, shared: Shared) -> list[Value] | None:
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


def along_calls(chain: Sequence[Value], world: World, shared: Shared, *, demand: bool) -> bool:
    """Whether each component of the chain calls the one before: what is broken is felt by callers.

    Where nothing is broken the chain is one of demand, and that goes the other way: with the calls.
    """
    good = True
    calls: dict[str, set[str]] = {}
    places: dict[str, Span] = {}
    for cluster in world.clusters.values():
        for application in cluster.cluster.applications:
            for part in application.components:
                calls.setdefault(part.name, set()).update(part.calls)
                places.setdefault(part.name, part.span)
    for before, after in pairwise(chain):
        caller, called = (before.data, after.data) if demand else (after.data, before.data)
        if called in calls[caller]:
            continue
        good = False
        shared.sink.report(
            codes.CHAIN_BROKEN,
            after.span,
            f"`{caller}` doesn't call `{called}`",
            secondary=((places[caller], f"`{caller}` calls {listing(sorted(calls[caller])) or 'nothing'}"),),
            help=_way(caller, called, calls, demand=demand),
        )
    return good


def _way(caller: str, called: str, calls: Mapping[str, set[str]], *, demand: bool) -> str:
    """How the chain should go instead."""
    if caller in calls[called]:
        return (
            "nothing is broken here: the chain goes from the users to the alert, so with the calls"
            if demand
            else "the chain goes from the cause to the alert, so against the calls"
        )
    callers = sorted(name for name, those in calls.items() if called in those)
    if callers:
        return f"`{called}` is called by {listing(callers)}"
    return f"nothing calls `{called}`" + ("" if demand else ": the chain ends with it")


def check_start(
    chain: Sequence[Value], causes: Sequence[Cause], touched: Mapping[Key, Fault], world: World, shared: Shared
) -> None:
    """Report a chain that begins elsewhere than the cause, or, where nothing is broken, than what has changed."""
    begins = causes
    if all(fault.kind.benign for fault in touched.values()):
        begins = [Cause(cluster, ref, fault.span) for (cluster, ref), fault in touched.items()]
    if not begins or not chain:
        return
    owners = {owner for begin in begins if (owner := _owner(begin, touched, world)) is not None}
    if chain[0].data in owners:
        return
    what = "the root cause" if causes else "what changes"
    if owners:
        message = f"{what} is in {listing(sorted(owners))}, not in `{chain[0].data}`"
        remedy = f"begin with {listing(sorted(owners))}"
    else:
        message = f"{what} belongs to no component"
        remedy = "add the object to a component's `objects`"
    shared.sink.report(codes.CHAIN_START, chain[0].span, message, secondary=((begins[0].span, what),), help=remedy)


def _owner(cause: Cause, touched: Mapping[Key, Fault], world: World) -> str | None:
    """The component of a root cause; for what a fault creates, that of the object the fault aims at."""
    cluster = world.clusters[cause.cluster]
    owner = cluster.component_of(cause.ref)
    fault = touched.get((cause.cluster, cause.ref))
    if owner is None and fault is not None:
        request = fault.request
        owner = cluster.component_of(ObjectRef(request.target_kind, request.target_name, request.namespace))
    return owner


def check_end(chain: Sequence[Value], scenario: Entry, triggers: Sequence[ExpectedAlert], shared: Shared) -> None:
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
