"""`itbc_embedded_cluster`: a Kubernetes cluster on this machine."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from tf.iface import CreateContext, DeleteContext, ReadContext, Resource, UpdateContext
from tf.schema import Schema
from tf.types import Number
from tf.utils import Diagnostics

from itbc.providers.embedded import record
from itbc.providers.embedded import spec as specs
from itbc.providers.embedded.boot import announce, boot
from itbc.providers.embedded.destroy import destroy
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.layout import Layout
from itbc.providers.embedded.liveness import lives
from itbc.providers.embedded.resources.attributes import State, computed, known, refuse, required
from itbc.providers.embedded.spec import LEDGER_KIND, ClusterSpec, address_range
from itbc.providers.services import Services


class EmbeddedCluster(Resource):  # type: ignore[misc]
    """A cluster whose id follows from its run and name, so that it is known before anything exists."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @classmethod
    def get_name(cls) -> str:
        """The type's name without the provider's."""
        return "embedded_cluster"

    @classmethod
    def get_schema(cls) -> Schema:
        """The arguments, and what is known afterwards."""
        return Schema(
            version=1,
            attributes=[
                required("name", "Name of the cluster: a DNS label."),
                required("run_id", "Run that the cluster belongs to."),
                required("state_dir", "Absolute path of the folder that holds the run's clusters, a folder each."),
                required("expires", "When the cluster may be removed by anybody (RFC 3339).", replace=False),
                required("nodes", "Number of nodes; 1. Read as 0 when the cluster is dead.", Number()),
                computed("id", "Id of the cluster."),
                computed("kubeconfig", "Path of the administrator's kubeconfig."),
                computed("address", "Address of the node."),
            ],
        )

    def validate(self, diags: Diagnostics, type_name: str, config: State) -> None:
        """Check what is known before anything is done."""
        super().validate(diags, type_name, config)
        stand_ins = {"name": "name", "run_id": "run", "state_dir": "/", "expires": "", "nodes": 1}
        given = {name: known(config, name) for name in stand_ins}
        filled = {name: stand_ins[name] if value is None else value for name, value in given.items()}
        _check(diags, filled)

    def create(self, ctx: CreateContext, planned: State) -> State | None:
        """Boot the cluster; after a failure what there is of it stays in the state, to be destroyed."""
        if not _check(ctx.diagnostics, planned):
            return None
        spec = _spec(planned)
        state = {
            **planned,
            "id": spec.identity,
            "kubeconfig": str(Layout(spec.folder).kubeconfig),
            "address": None,
        }
        try:
            cluster = boot(spec, self._services)
        except EmbeddedError as wrong:
            refuse(ctx.diagnostics, f"The cluster {spec.name} can't be brought up", wrong)
            return state
        return {**state, "address": cluster.address}

    def read(self, ctx: ReadContext, current: State) -> State | None:  # noqa: ARG002
        """Look whether the cluster lives.

        A dead one has no nodes, which plans its replacement; its remains stay
        in the state, so that they are removed whatever is done next. Gone is
        what has no state folder any more.
        """
        spec = _spec(current)
        cluster = record.load(spec.folder)
        if cluster is not None and cluster.identity == spec.identity and lives(cluster):
            return {**current, "id": spec.identity, "kubeconfig": str(cluster.kubeconfig), "address": cluster.address}
        return {**current, "nodes": 0} if spec.folder.exists() else None

    def update(self, ctx: UpdateContext, current: State, planned: State) -> State | None:
        """Take note of a new expiry, which is all that can change in place."""
        spec = _spec(planned)
        cluster = record.load(spec.folder)
        if cluster is None:
            refuse(ctx.diagnostics, f"The cluster {spec.name} can't be changed", EmbeddedError("it is gone"))
            return current
        announce(spec, self._services)
        record.save(dataclasses.replace(cluster, expires=spec.expires))
        self._services.ledger.created(LEDGER_KIND, spec.identity)
        return planned

    def delete(self, ctx: DeleteContext, current: State) -> None:
        """Remove the cluster, however much of it there is."""
        spec = _spec(current)
        try:
            cluster = record.load(spec.folder)
            destroy(spec.identity, spec.folder, spec.range if cluster is None else cluster.range)
        except EmbeddedError as wrong:
            refuse(ctx.diagnostics, f"The cluster {spec.name} can't be removed", wrong)
            return
        self._services.ledger.gone(LEDGER_KIND, spec.identity)
        self._services.progress(f"cluster {spec.name}: destroyed")


def _spec(state: State) -> ClusterSpec:
    return ClusterSpec(
        name=state["name"],
        run_id=state["run_id"],
        state_dir=Path(state["state_dir"]),
        expires=state["expires"],
        nodes=int(state["nodes"]),
        range=address_range(),
    )


def _check(diagnostics: Diagnostics, state: State) -> bool:
    """Say at the arguments what is wrong with them."""
    try:
        found = specs.problems(_spec(state))
    except EmbeddedError as wrong:
        refuse(diagnostics, "The embedded target is set up wrongly", wrong)
        return False
    for argument, message in found:
        path = [argument] if argument in state else None
        diagnostics.add_error("This cluster can't be made", message, path=path)
    return not found
