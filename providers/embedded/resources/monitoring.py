"""`itbc_embedded_monitoring`: Prometheus and Alertmanager for a cluster on this machine."""

from __future__ import annotations

from pathlib import Path

from tf.iface import CreateContext, DeleteContext, ReadContext, Resource, UpdateContext
from tf.schema import Schema
from tf.types import List, String

from itbc.providers.embedded import monitoring
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.liveness import host_lives
from itbc.providers.embedded.resources.attributes import (
    State,
    cluster_record,
    computed,
    living_record,
    refuse,
    required,
)
from itbc.providers.services import Services


class EmbeddedMonitoring(Resource):  # type: ignore[misc]
    """The monitoring of a cluster, which runs in its namespaces and goes with it: the ledger needn't know of it."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @classmethod
    def get_name(cls) -> str:
        """The type's name without the provider's."""
        return "embedded_monitoring"

    @classmethod
    def get_schema(cls) -> Schema:
        """The arguments, and what is known afterwards."""
        return Schema(
            version=1,
            attributes=[
                required("cluster", "Id of the cluster."),
                required("state_dir", "Absolute path of the folder that holds the run's clusters."),
                required("rules", "Path of a file of Prometheus rules.", replace=False),
                required("rules_digest", "Digest of the rules file, by which a change is noticed."),
                required("namespaces", "Namespaces whose pods are scraped; everywhere if empty.", List(String())),
                computed("id", "Id of the monitoring."),
                computed("prometheus", "Base URL of Prometheus."),
                computed("alertmanager", "Base URL of Alertmanager."),
            ],
        )

    def create(self, ctx: CreateContext, planned: State) -> State | None:
        """Start everything and wait until it answers."""
        state = {**planned, "id": f"{planned['cluster']}/monitoring", "prometheus": None, "alertmanager": None}
        try:
            cluster = cluster_record(planned)
            found = monitoring.start(
                cluster, Path(planned["rules"]), list(planned["namespaces"]), self._services.progress
            )
        except EmbeddedError as wrong:
            refuse(ctx.diagnostics, f"The monitoring of {planned['cluster']} can't be started", wrong)
            return state
        return {**state, "prometheus": found.prometheus, "alertmanager": found.alertmanager}

    def read(self, ctx: ReadContext, current: State) -> State | None:  # noqa: ARG002
        """Look whether all of it runs and answers."""
        cluster = living_record(current)
        if cluster is None or not monitoring.lives(cluster):
            return None
        found = monitoring.urls(cluster)
        return {**current, "prometheus": found.prometheus, "alertmanager": found.alertmanager}

    def update(self, ctx: UpdateContext, current: State, planned: State) -> State | None:  # noqa: ARG002
        """The same rules from another file: nothing is to be done."""
        return planned

    def delete(self, ctx: DeleteContext, current: State) -> None:
        """End all of it, if there is still a cluster."""
        cluster = living_record(current)
        if cluster is None or not host_lives(cluster):
            return
        try:
            monitoring.stop(cluster)
        except EmbeddedError as wrong:
            if host_lives(cluster):
                refuse(ctx.diagnostics, f"The monitoring of {current['cluster']} can't be ended", wrong)
