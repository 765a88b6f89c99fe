"""`itbc_embedded_traces` and `itbc_embedded_logs`: a store of one signal for a cluster on this machine."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from tf.iface import CreateContext, DeleteContext, ReadContext, Resource, UpdateContext
from tf.schema import Schema

from itbc.contracts.mask import Mask, MaskKind
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
from itbc.providers.embedded.telemetry import store as stores
from itbc.providers.embedded.telemetry.logs import LOGS
from itbc.providers.embedded.telemetry.store import Store
from itbc.providers.embedded.telemetry.traces import TRACES
from itbc.providers.services import Services


class _EmbeddedStore(Resource):  # type: ignore[misc]
    """A store, which runs in its cluster's namespaces and goes with it: the ledger needn't know of it."""

    SIGNAL: ClassVar[MaskKind]
    STORE: ClassVar[Store]

    def __init__(self, services: Services) -> None:
        self._services = services

    @classmethod
    def get_name(cls) -> str:
        """The type's name without the provider's."""
        return f"embedded_{cls.SIGNAL}"

    @classmethod
    def get_schema(cls) -> Schema:
        """The arguments, and what is known afterwards."""
        return Schema(
            version=1,
            attributes=[
                required("cluster", "Id of the cluster."),
                required("state_dir", "Absolute path of the folder that holds the run's clusters."),
                required("masks", "What must not be collected, separated by commas (KIND or KIND:SERVICE)."),
                computed("id", "Id of the store."),
                computed("url", "Base URL of what answers queries."),
            ],
        )

    def create(self, ctx: CreateContext, planned: State) -> State | None:
        """Start everything and wait until it answers."""
        state = {**planned, "id": f"{planned['cluster']}/{self.SIGNAL}", "url": None}
        try:
            url = stores.start(self.STORE, cluster_record(planned), self._masks(planned), self._services)
        except EmbeddedError as wrong:
            refuse(ctx.diagnostics, f"The {self.SIGNAL} of {planned['cluster']} can't be collected", wrong)
            return state
        return {**state, "url": url}

    def read(self, ctx: ReadContext, current: State) -> State | None:  # noqa: ARG002
        """Look whether all of it runs and answers."""
        cluster = living_record(current)
        if cluster is None or not stores.lives(self.STORE, cluster):
            return None
        return {**current, "url": self.STORE.url(cluster)}

    def update(self, ctx: UpdateContext, current: State, planned: State) -> State | None:  # noqa: ARG002
        """Every argument makes another store: there is nothing to change."""
        return planned

    def delete(self, ctx: DeleteContext, current: State) -> None:
        """End all of it, if there is still a cluster."""
        what = f"The store of {self.SIGNAL} of {current['cluster']} can't be ended"
        delete_inside(ctx.diagnostics, current, what, partial(stores.stop, self.STORE))

    def _masks(self, state: State) -> list[Mask]:
        return [mask for mask in masks_of(state) if mask.kind == self.SIGNAL]


class EmbeddedLogs(_EmbeddedStore):
    """VictoriaLogs."""

    SIGNAL = "logs"
    STORE = LOGS


class EmbeddedTraces(_EmbeddedStore):
    """Jaeger."""

    SIGNAL = "traces"
    STORE = TRACES
