"""The clusters."""

from __future__ import annotations

from itbc.compiler.plan import CreateCluster
from itbc.dsl.model import Scenario


def create_clusters(scenario: Scenario) -> tuple[CreateCluster, ...]:
    """One step a cluster; none needs another."""
    return tuple(
        CreateCluster(f"cluster/{cluster.name}", (), cluster.name, cluster.nodes, cluster.span)
        for cluster in scenario.environment.clusters
    )
