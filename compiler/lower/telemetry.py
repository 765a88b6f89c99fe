"""What is seen of the clusters."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.compiler.plan import CreateCluster, ObserveCluster
from itbc.dsl.model import Scenario


def observe_clusters(scenario: Scenario, clusters: Sequence[CreateCluster]) -> tuple[ObserveCluster, ...]:
    """One step a cluster: a run needs metrics and alerts of every cluster, whether a scenario shows them or not."""
    created = {step.cluster: step.id for step in clusters}
    return tuple(
        ObserveCluster(
            id=f"telemetry/{cluster.name}",
            needs=(created[cluster.name],),
            cluster=cluster.name,
            signals=tuple(sorted(cluster.telemetry.signals)),
            masks=cluster.telemetry.masks,
            namespaces=tuple(sorted({application.namespace for application in cluster.applications})),
            rules=tuple(sorted(cluster.alerts, key=lambda rule: rule.name)),
            span=cluster.telemetry.span,
        )
        for cluster in scenario.environment.clusters
    )
