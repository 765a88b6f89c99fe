"""`itbc_embedded_monitoring`: Prometheus and Alertmanager for a cluster on this machine."""

from __future__ import annotations

from pathlib import Path

from tf.iface import CreateContext, DeleteContext, ReadContext, Resource, UpdateContext
from tf.schema import Schema
from tf.types import List, String

from itbc.providers.embedded import monitoring
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.resources.attributes import (
    State,
    cluster_record,
    computed,
    delete_inside,
    living_record,
    masks_of,
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
                required("masks", "What an agent must not see, separated by commas (KIND or KIND:SERVICE)."),
                computed("id", "Id of the monitoring."),
                computed("prometheus", "Base URL of Prometheus."),
                computed("alertmanager", "Base URL of Alertmanager."),
                computed("metrics", "Base URL of the Prometheus that an agent is shown."),
                computed("alerts", "Base URL of the Alertmanager that an agent is shown."),
            ],
        )

    def create(self, ctx: CreateContext, planned: State) -> State | None:
        """Start everything and wait until it answers."""
        state = {**planned, "id": f"{planned['cluster']}/monitoring", **dict.fromkeys(_URLS)}
        try:
            cluster = cluster_record(planned)
            found = monitoring.start(
                cluster,
                Path(planned["rules"]),
                list(planned["namespaces"]),
                masks_of(planned),
                self._services.progress,
            )
        except EmbeddedError as wrong:
            refuse(ctx.diagnostics, f"The monitoring of {planned['cluster']} can't be started", wrong)
            return state
        return {**state, **_urls(found)}

    def read(self, ctx: ReadContext, current: State) -> State | None:  # noqa: ARG002
        """Look whether all of it runs and answers."""
        cluster = living_record(current)
        masks = masks_of(current)
        if cluster is None or not monitoring.lives(cluster, masks):
            return None
        return {**current, **_urls(monitoring.urls(cluster, masks))}

    def update(self, ctx: UpdateContext, current: State, planned: State) -> State | None:  # noqa: ARG002
        """The same rules from another file: nothing is to be done."""
        return planned

    def delete(self, ctx: DeleteContext, current: State) -> None:
        """End all of it, if there is still a cluster."""
        what = f"The monitoring of {current['cluster']} can't be ended"
        delete_inside(ctx.diagnostics, current, what, monitoring.stop)


_URLS = ("alertmanager", "alerts", "metrics", "prometheus")


def _urls(found: monitoring.Monitoring) -> State:
    return {
        "alertmanager": found.alertmanager,
        "alerts": found.shown_alertmanager,
        "metrics": found.shown_prometheus,
        "prometheus": found.prometheus,
    }
