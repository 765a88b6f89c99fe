"""The truth against the faults, the topology and the alerts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from itbc.dsl import codes
from itbc.dsl.check.chain import Key, along_calls, check_end, check_start, known_chain
from itbc.dsl.check.context import Shared, World
from itbc.dsl.check.environment import find_cluster
from itbc.dsl.check.objects import Pool
from itbc.dsl.conversion import IDENTIFIER
from itbc.dsl.diagnostics import replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.model import Cause, ExpectedAlert, Fault, Truth
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
    chain = known_chain(entry, world, shared)
    listed = entry.value("root_causes")
    nothing = listed is not None and listed.complete and not entry.items("root_causes")
    demand = (all_faults or nothing) and all(fault.kind.benign for fault in faults)
    if chain is not None and along_calls(chain, world, shared, demand=demand):
        if whole:
            check_start(chain, causes, touched, world, shared)
        check_end(chain, scenario, triggers, shared)
    return Truth(tuple(causes), tuple(item.data for item in chain or ()), entry.header)


def _touched(faults: Sequence[Fault]) -> dict[Key, Fault]:
    """What the faults change or create, each with the first fault that does."""
    touched: dict[Key, Fault] = {}
    for fault in faults:
        for touch in fault.touches:
            touched.setdefault((fault.request.cluster, fault.place_of(touch)), fault)
    return touched


def _causes(
    entry: Entry, world: World, touched: Mapping[Key, Fault], shared: Shared, *, all_faults: bool
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
    item: Value, world: World, touched: Mapping[Key, Fault], shared: Shared, *, all_faults: bool
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
    entry: Entry, causes: Sequence[Cause], touched: Mapping[Key, Fault], shared: Shared, *, whole: bool
) -> bool:
    """Every root cause is touched by a fault, and everything touched is a root cause. One message for a swapped name.

    What touches but breaks nothing doesn't count. Returns whether every root cause is touched.
    """
    named = {(cause.cluster, cause.ref) for cause in causes}
    broken = {key: fault for key, fault in touched.items() if not fault.kind.benign}
    missing = [key for key in broken if key not in named]
    wrong = [cause for cause in causes if (cause.cluster, cause.ref) not in broken]
    for cause in wrong:
        better = _written(missing[0]) if len(missing) == 1 and len(wrong) == 1 else ""
        message = f"no fault changes {cause.ref.kind} `{cause.ref.name}`"
        remedy = "name what the faults change, or add a fault that changes this"
        harmless = touched.get((cause.cluster, cause.ref))
        if harmless is not None:
            message = f"`{harmless.kind.kind}` breaks nothing, so {cause.ref.kind} `{cause.ref.name}` is no root cause"
            remedy = "where nothing is broken, write `root_causes = []`"
        shared.sink.report(
            codes.CAUSE_UNTOUCHED,
            cause.span,
            message,
            secondary=[
                (fault.span, f"this fault changes {ref.kind} `{ref.name}`") for (_, ref), fault in touched.items()
            ],
            help=f"did you mean `{better}`?" if better else remedy,
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


def _written(key: Key) -> str:
    """A root cause as a reference is written."""
    cluster, ref = key
    plain = IDENTIFIER.fullmatch(ref.name) is not None
    return f"cluster.{cluster}.{ref.kind.lower()}" + (f".{ref.name}" if plain else f'["{ref.name}"]')
