"""What is deployed into the clusters, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.compiler.lower.images import read_image
from itbc.compiler.plan import BuildImage, CreateCluster, DeployApplication
from itbc.dsl.diagnostics import Sink
from itbc.dsl.model import Application, Cluster, DeclaredObject, Image, ObjectRef, Scenario

_PHASES: Sequence[frozenset[str]] = (
    frozenset({"Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass"}),
    frozenset(
        {
            "ClusterRole",
            "ClusterRoleBinding",
            "ConfigMap",
            "LimitRange",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "ResourceQuota",
            "Role",
            "RoleBinding",
            "Secret",
            "ServiceAccount",
        }
    ),
    frozenset({"Ingress", "NetworkPolicy", "PodDisruptionBudget", "Service"}),
)
"""What must be there before pods start, in order; every other kind comes in a last phase."""

_POD_SECURITY = {"pod-security.kubernetes.io/enforce": "baseline"}
"""Who may create pods there (an agent, for one) gets neither the node's files nor its network, nor a privileged pod.

https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""


def deploy_applications(
    scenario: Scenario, clusters: Sequence[CreateCluster], sink: Sink
) -> tuple[DeployApplication, ...]:
    """One step an application and cluster. An image that two clusters use is read once."""
    created = {step.cluster: step.id for step in clusters}
    read: dict[Image, BuildImage | None] = {}
    steps: list[DeployApplication] = []
    for cluster in scenario.environment.clusters:
        steps.extend(_deploy(cluster, created[cluster.name], read, sink))
    return tuple(steps)


def _deploy(
    cluster: Cluster, created: str, read: dict[Image, BuildImage | None], sink: Sink
) -> Sequence[DeployApplication]:
    steps: list[DeployApplication] = []
    owners: dict[str, str] = {}
    for application in cluster.applications:
        step_id = f"application/{cluster.name}/{application.name}"
        # Two applications may share a namespace: the first one brings it, the second waits for that.
        owner = owners.setdefault(application.namespace, step_id)
        needs = (created,) if owner == step_id else (created, owner)
        for image in application.images:
            if image not in read:
                read[image] = read_image(image, sink)
        steps.append(
            DeployApplication(
                id=step_id,
                needs=needs,
                cluster=cluster.name,
                application=application.name,
                namespace=application.namespace,
                images=tuple(built for image in application.images if (built := read[image]) is not None),
                phases=_phases(application, brings_namespace=owner == step_id),
                span=application.span,
            )
        )
    return steps


def _phases(application: Application, *, brings_namespace: bool) -> tuple[tuple[DeclaredObject, ...], ...]:
    """The objects in their phases, each in the declared order; no phase is empty."""
    phases: list[list[DeclaredObject]] = [[] for _ in range(len(_PHASES) + 1)]
    if brings_namespace and not any(
        declared.ref.kind == "Namespace" and declared.ref.name == application.namespace
        for declared in application.objects
    ):
        phases[0].append(_namespace(application))
    for declared in application.objects:
        phases[_phase(declared.ref.kind)].append(declared)
    return tuple(tuple(phase) for phase in phases if phase)


def _phase(kind: str) -> int:
    return next((number for number, kinds in enumerate(_PHASES) if kind in kinds), len(_PHASES))


def _namespace(application: Application) -> DeclaredObject:
    name = application.namespace
    metadata = {"name": name, "labels": _POD_SECURITY}
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    return DeclaredObject(ObjectRef("Namespace", name, ""), manifest, application.span)
