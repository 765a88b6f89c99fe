"""D: objectives and safeguards."""

from __future__ import annotations

from itbc.dsl import codes
from itbc.dsl.check.context import Shared, World
from itbc.dsl.check.definitions import slo as make_slo
from itbc.dsl.check.environment import cluster_of, find_cluster
from itbc.dsl.entries import Entry
from itbc.dsl.model import Desired, Objective, Safeguard, Unchanged
from itbc.dsl.names import unique
from itbc.dsl.syntax import Reference

SETTLE_SECONDS = 60.0
"""How long after the agent's end a hold may begin where the objective doesn't say."""


def desired(scenario: Entry, world: World, shared: Shared) -> Desired | None:
    """What "solved" means, or None where a part of it couldn't be understood."""
    entry = scenario.child("desired")
    if entry is None:
        return None
    objectives = [_objective(child, world, shared) for child in unique(entry.children("objective"), shared.sink)]
    safeguards = [_safeguard(child, world, shared) for child in unique(entry.children("safeguard"), shared.sink)]
    goal, within = entry.value("goal"), entry.value("within")
    if goal is None or within is None:
        return None
    return Desired(
        goal.data,
        within.data,
        tuple(objective for objective in objectives if objective is not None),
        tuple(safeguard for safeguard in safeguards if safeguard is not None),
        entry.header,
    )


def _objective(entry: Entry, world: World, shared: Shared) -> Objective | None:
    sink = shared.sink
    _needs(entry, shared)
    reference = entry.value("slo")
    if reference is None:
        return None
    cluster = cluster_of(entry, world, sink)
    name = reference.data.parts[-1]
    found = shared.names.find("slo", name.text, name.span, sink)
    hold = entry.value("hold")
    if cluster is not None and not cluster.metrics:
        sink.report(
            codes.METRICS_OFF,
            entry.label_span,
            "an SLO is computed from metrics",
            secondary=((cluster.cluster.telemetry.span, "metrics are off here"),),
            help="set `metrics = true`",
        )
    made = make_slo(found.entry) if found is not None else None
    if cluster is None or made is None or hold is None:
        return None
    settle = float(entry.get("settle", SETTLE_SECONDS))
    baseline = bool(entry.get("baseline", True))
    return Objective(entry.label, made, cluster.cluster.name, hold.data, settle, baseline, entry.header)


def _needs(entry: Entry, shared: Shared) -> None:
    """Attributes that are needed, or senseless, beside what the objective is about."""
    about = next((name for name in ("slo", "corpus", "cost") if name in entry.names), None)
    if about is None or entry.damaged:
        return
    needed = {"slo": ("hold",), "corpus": ("deliverable",), "cost": ("hold", "at_most")}[about]
    for name in needed:
        if name not in entry.names and name not in entry.broken:
            shared.sink.report(
                codes.MISSING_ATTRIBUTE,
                entry.header,
                f"an objective with `{about}` needs `{name}`",
                help=f"add `{name} = …`",
            )
    belongs = {
        "deliverable": "corpus",
        "false_positives": "corpus",
        "false_negatives": "corpus",
        "at_most": "cost",
        "per": "cost",
    }
    for name, owner in belongs.items():
        if name in entry.names and owner != about:
            shared.sink.report(
                codes.UNKNOWN_ATTRIBUTE,
                entry.names[name].span,
                f"an objective with `{about}` has no attribute `{name}`",
                help=f"`{name}` belongs to an objective with `{owner}`; the bound of an SLO stands in the `slo` block",
            )


def _safeguard(entry: Entry, world: World, shared: Shared) -> Safeguard | None:
    if entry.value("unchanged") is None:
        return None
    made: list[Unchanged] = []
    for item in entry.items("unchanged"):
        reference: Reference = item.data
        if reference.parts[0].text != "cluster":
            continue
        cluster = find_cluster(reference, world, shared.sink)
        if cluster is None:
            continue
        kind = cluster.pool.kind(reference.parts[-1], shared.sink)
        if kind is None:
            continue
        for application in cluster.cluster.applications:
            one = Unchanged(cluster.cluster.name, application.namespace, kind)
            if one not in made:
                made.append(one)
    return Safeguard(entry.label, tuple(made), entry.header)
