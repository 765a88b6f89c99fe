"""The target `embedded`: a Kubernetes cluster on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from itbc.compiler.plan import CreateCluster, DeployApplication, ObserveCluster, Plan
from itbc.compiler.target import Abilities, Materials, StackUse, cluster_stack, telemetry_stack
from itbc.compiler.workloads import application_stacks
from itbc.stacks import properties
from itbc.stacks.synthesis import Declaration

ABILITIES = Abilities(
    nodes=1, signals=frozenset({"alerts", "logs", "metrics", "traces"}), hosts=frozenset[str](), builds_images=True
)

IMAGE = "itbc_embedded_image"
"""The Terraform type of an image that is built here and loaded into the cluster."""


@dataclass(frozen=True, slots=True)
class EmbeddedTarget:
    """Clusters of one node, made of itbc's own Kubernetes program; images are built here and need no registry."""

    name: str = "embedded"
    summary: str = "a Kubernetes cluster on this machine (Linux, root)"
    abilities: Abilities = ABILITIES

    def stacks(self, plan: Plan, materials: Materials) -> Sequence[StackUse]:
        """Cluster, telemetry and applications of each cluster."""
        uses: list[StackUse] = [_cluster(step) for step in plan.clusters]
        uses.extend(_telemetry(step, materials) for step in plan.telemetry)
        for step in plan.applications:
            uses.extend(
                replace(use, lives_in=cluster_stack(step.cluster))
                for use in application_stacks(step, _images(step, materials))
            )
        return uses


def _cluster(step: CreateCluster) -> StackUse:
    given = properties.EmbeddedCluster(id=cluster_stack(step.cluster), name=step.cluster, nodes=step.nodes)
    return StackUse(
        Declaration("embedded_cluster:EmbeddedCluster", given),
        origins={f"itbc_embedded_cluster.{step.cluster}": step.span},
    )


def _telemetry(step: ObserveCluster, materials: Materials) -> StackUse:
    cluster = cluster_stack(step.cluster)
    rules = materials.rules[step.cluster]
    stores: list[Literal["logs", "traces"]] = [each for each in ("logs", "traces") if each in step.signals]
    given = properties.EmbeddedTelemetry(
        id=telemetry_stack(step.cluster),
        cluster=step.cluster,
        rules=rules.path,
        rules_digest=rules.digest,
        namespaces=list(step.namespaces),
        stores=stores,
    )
    return StackUse(
        Declaration("embedded_telemetry:EmbeddedTelemetry", given),
        needs=(cluster,),
        lives_in=cluster,
        inputs={"cluster": f"{cluster}.cluster"},
        origins={f"itbc_embedded_{each}.{step.cluster}": step.span for each in ("monitoring", *stores)},
    )


def _images(step: DeployApplication, materials: Materials) -> list[properties.Image]:
    return [
        properties.Image(
            name=image.name,
            type=IMAGE,
            reference=image.reference,
            source=(material := materials.images[step.application, image.name]).path,
            source_digest=material.digest,
        )
        for image in step.images
    ]


TARGET = EmbeddedTarget()
"""What the compiler is given."""
