"""E: the clusters and what runs in them."""

from __future__ import annotations

from itbc.dsl import codes
from itbc.dsl.check.context import AppFacts, ClusterFacts, Shared, World
from itbc.dsl.check.definitions import alert_rule
from itbc.dsl.check.load import with_load
from itbc.dsl.check.masks import masks
from itbc.dsl.diagnostics import Sink
from itbc.dsl.entries import Entry
from itbc.dsl.model import AlertRule, Application, Cluster, ObjectRef, Signal, Telemetry
from itbc.dsl.names import unique, unknown
from itbc.dsl.source import Span
from itbc.dsl.syntax import Reference


def environment(entry: Entry, applications: dict[str, AppFacts], shared: Shared) -> World:
    """Everything that stands, as far as it could be understood."""
    sink = shared.sink
    named = all(label.valid for block in entry.blocks for label in block.labels)
    world = World(complete=named and not entry.damaged and not entry.broken)
    for child in unique(entry.children("cluster"), sink):
        world.clusters[child.label] = _cluster(child, applications, shared)
    for child in unique(entry.children("host"), sink):
        world.hosts[child.label] = child
    if not entry.children("cluster") and not entry.children("host") and world.complete:
        sink.report(codes.MISSING_BLOCK, entry.header, "nothing stands here", help='add a `cluster "NAME" { … }`')
    return world


def _cluster(entry: Entry, applications: dict[str, AppFacts], shared: Shared) -> ClusterFacts:
    sink = shared.sink
    complete = not entry.damaged and not entry.broken
    complete = complete and all(label.valid for block in entry.blocks for label in block.labels)
    made: list[Application] = []
    owners: dict[ObjectRef, Span] = {}
    for child in unique(entry.children("application"), sink):
        found = shared.names.find("application", child.label, child.label_span, sink)
        facts = applications.get(child.label) if found is not None else None
        if facts is None:
            complete = False
            continue
        complete = complete and facts.complete
        deployed = with_load(facts, child, sink)
        _collisions(deployed, child, owners, sink)
        made.append(deployed)
    telemetry = entry.child("telemetry")
    rules, loaded, whole = _alerts(telemetry, shared)
    signals: set[Signal] = set()
    metrics = telemetry is None or bool(telemetry.get("metrics", True))
    if metrics:
        signals.add("metrics")
    if rules and metrics:
        signals.add("alerts")
    for signal in ("traces", "logs"):
        if telemetry is not None and telemetry.get(signal, False):
            signals.add(signal)
    place = telemetry.span if telemetry is not None else entry.header
    hidden = masks(telemetry, signals, made if complete else None, sink) if telemetry is not None else ()
    cluster = Cluster(
        entry.label,
        int(entry.get("nodes", 1)),
        tuple(made),
        Telemetry(frozenset(signals), hidden, place),
        tuple(rules),
        entry.header,
    )
    return ClusterFacts(cluster, entry, complete, metrics or not whole, loaded)


def _collisions(deployed: Application, entry: Entry, owners: dict[ObjectRef, Span], sink: Sink) -> None:
    for declared in deployed.objects:
        if declared.ref in owners:
            sink.report(
                codes.DUPLICATE_OBJECT,
                entry.label_span,
                f"{declared.ref.kind} `{declared.ref.name}` is already in this cluster",
                secondary=((owners[declared.ref], "from this application"),),
                help="put the applications into different namespaces",
            )
            return
    owners.update({declared.ref: entry.label_span for declared in deployed.objects})


def _alerts(telemetry: Entry | None, shared: Shared) -> tuple[list[AlertRule], frozenset[str], bool]:
    """The loaded rules, the names of all loaded alerts (also of broken ones), and whether that's all."""
    names = shared.names
    chosen: list[str] = []
    whole = True
    if telemetry is not None and ("alerts" in telemetry.values or "alerts" in telemetry.broken):
        whole = "alerts" not in telemetry.broken
        listed = telemetry.value("alerts")
        whole = whole and listed is not None and listed.complete
        for item in telemetry.items("alerts"):
            reference: Reference = item.data
            found = names.find("alert", reference.parts[-1].text, reference.parts[-1].span, shared.sink)
            if found is None:
                whole = False
            else:
                chosen.append(found.entry.label)
    else:
        chosen = list(names.of("alert"))
    rules = [rule for name in chosen if (rule := alert_rule(names.of("alert")[name].entry)) is not None]
    loaded = frozenset(chosen) if whole else frozenset(names.of("alert"))
    return rules, loaded, whole


def cluster_of(entry: Entry, world: World, sink: Sink) -> ClusterFacts | None:
    """The cluster that an entry's `cluster` attribute means, or the only one."""
    given = entry.value("cluster")
    if given is not None:
        return find_cluster(given.data, world, sink)
    if "cluster" in entry.names or "host" in entry.names:
        return None
    if len(world.clusters) == 1 and (world.complete or not world.hosts):
        return next(iter(world.clusters.values()))
    if world.complete and len(world.clusters) > 1:
        names = ", ".join(f"`cluster = cluster.{name}`" for name in world.clusters)
        sink.report(codes.WHICH_CLUSTER, entry.header, "there are several clusters", help=f"add one of {names}")
    return None


def find_cluster(reference: Reference, world: World, sink: Sink) -> ClusterFacts | None:
    """The cluster that a reference begins with."""
    name = reference.parts[1]
    found = world.clusters.get(name.text)
    if found is None and world.complete:
        unknown("cluster", name.text, name.span, list(world.clusters), sink)
    return found
