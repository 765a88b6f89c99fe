"""What the target can't provide."""

from __future__ import annotations

from itbc.compiler import codes
from itbc.compiler.target import Target
from itbc.dsl.diagnostics import Sink, listing
from itbc.dsl.model import Cluster, Scenario


def check_capability(scenario: Scenario, target: Target, sink: Sink) -> None:
    """Report every part of the environment that the target has no means for."""
    environment, can = scenario.environment, target.abilities
    for host in environment.hosts:
        if host.os not in can.hosts:
            has = f"it has hosts with {listing(tuple(can.hosts))}" if can.hosts else "it has clusters only"
            sink.report(
                codes.TARGET_HOSTS,
                host.span,
                f"host `{host.name}` with `{host.os}`",
                notes=(f"target `{target.name}`: {has}",),
                help="compile it for another target, or leave the host out",
            )
    if not environment.clusters and not environment.hosts:
        sink.report(codes.NOTHING_STANDS, environment.span, "nothing to deploy to", help="add a `cluster` block")
    for cluster in environment.clusters:
        _check_cluster(cluster, target, sink)


def _check_cluster(cluster: Cluster, target: Target, sink: Sink) -> None:
    can = target.abilities
    if cluster.nodes > can.nodes:
        sink.report(
            codes.TARGET_NODES,
            cluster.span,
            f"cluster `{cluster.name}` asks for {cluster.nodes} nodes",
            notes=(f"target `{target.name}` has at most {can.nodes}",),
            help=f"set `nodes = {can.nodes}`, or compile it for another target",
        )
    for signal in sorted(cluster.telemetry.signals - can.signals):
        sink.report(
            codes.TARGET_SIGNAL,
            cluster.telemetry.span,
            f"`{signal}` of cluster `{cluster.name}`",
            notes=(f"target `{target.name}` collects {listing(tuple(can.signals))}",),
            help=f"leave `{signal}` out, or compile it for another target",
        )
    for application in cluster.applications:
        if application.images and not can.builds_images:
            sink.report(
                codes.TARGET_IMAGES,
                application.images[0].span,
                f"image `{application.images[0].name}` is built from source",
                notes=(f"target `{target.name}` pulls images from registries only",),
                help="refer to images in a registry, or compile it for another target",
            )
