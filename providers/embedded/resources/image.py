"""`itbc_embedded_image`: an image built from source and loaded into a cluster without a registry."""

from __future__ import annotations

from pathlib import Path

from tf.iface import CreateContext, DeleteContext, ReadContext, Resource, UpdateContext
from tf.schema import Schema

from itbc.providers.embedded import images, runtime
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.liveness import host_lives
from itbc.providers.embedded.resources.attributes import (
    State,
    cluster_record,
    computed,
    delete_inside,
    living_record,
    refuse,
    required,
)
from itbc.providers.services import Services


class EmbeddedImage(Resource):  # type: ignore[misc]
    """An image in a cluster. It lives in the cluster's own state and goes with it, so the ledger needn't know of it."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @classmethod
    def get_name(cls) -> str:
        """The type's name without the provider's."""
        return "embedded_image"

    @classmethod
    def get_schema(cls) -> Schema:
        """The arguments, and what is known afterwards."""
        return Schema(
            version=1,
            attributes=[
                required("cluster", "Id of the cluster."),
                required("state_dir", "Absolute path of the folder that holds the run's clusters."),
                required("reference", "What manifests call the image."),
                required("source", "Folder of a Go main package with its go.mod.", replace=False),
                required("source_digest", "Digest of the folder's content, by which a change is noticed."),
                computed("id", "Id of the image in the cluster."),
                computed("digest", "Digest that Kubernetes shows as the image's id."),
            ],
        )

    def create(self, ctx: CreateContext, planned: State) -> State | None:
        """Build the image, unless the cache has it, and load it."""
        state = {**planned, "id": _identity(planned), "digest": None}
        try:
            cluster = cluster_record(planned)
            built = images.build(
                Path(planned["source"]), planned["reference"], self._services.cache, self._services.progress
            )
            runtime.import_image(cluster.layout, built.tar)
        except EmbeddedError as wrong:
            refuse(ctx.diagnostics, f"The image {planned['reference']} can't be brought into the cluster", wrong)
            return state
        self._services.progress(f"cluster {cluster.name}: image {built.reference} loaded")
        return {**state, "digest": built.digest}

    def read(self, ctx: ReadContext, current: State) -> State | None:  # noqa: ARG002
        """Look whether the cluster lives and has the image."""
        cluster = living_record(current)
        if cluster is None or not host_lives(cluster):
            return None
        try:
            there = runtime.images(cluster.layout)
        except EmbeddedError:
            return None
        return current if images.qualified(current["reference"]) in there else None

    def update(self, ctx: UpdateContext, current: State, planned: State) -> State | None:  # noqa: ARG002
        """The same content from another folder: nothing is to be done."""
        return planned

    def delete(self, ctx: DeleteContext, current: State) -> None:
        """Take the image out of the cluster, if there is still one."""
        what = f"The image {current['reference']} can't be removed"
        delete_inside(
            ctx.diagnostics,
            current,
            what,
            lambda cluster: runtime.remove_image(cluster.layout, images.qualified(current["reference"])),
        )


def _identity(state: State) -> str:
    return f"{state['cluster']}/{state['reference']}"
