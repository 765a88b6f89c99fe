"""What the passes share: the sink, the declared names, the files, and what the passes before have made."""

from __future__ import annotations

from dataclasses import dataclass, field

from itbc.dsl.catalogue import Catalogue
from itbc.dsl.check.objects import Pool
from itbc.dsl.diagnostics import Sink
from itbc.dsl.entries import Entry
from itbc.dsl.loading import Loader
from itbc.dsl.model import Application, Cluster, DeclaredObject, ObjectRef
from itbc.dsl.names import Names


@dataclass(frozen=True, slots=True)
class Shared:
    """What every pass gets."""

    sink: Sink
    names: Names
    loader: Loader
    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class AppFacts:
    """An application as declared, and whether all of it could be read (else nothing is called unknown)."""

    application: Application
    entry: Entry
    complete: bool
    dependencies: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A cluster of the scenario. `complete` is False where something in it couldn't be read."""

    cluster: Cluster
    entry: Entry
    complete: bool
    metrics: bool
    loaded_alerts: frozenset[str]

    def objects(self) -> list[DeclaredObject]:
        """All declared objects of its applications."""
        return [declared for application in self.cluster.applications for declared in application.objects]

    @property
    def pool(self) -> Pool:
        """The objects that references into the cluster can mean."""
        return Pool(self.objects(), self.complete, f" in cluster `{self.cluster.name}`")

    def component_of(self, ref: ObjectRef) -> str | None:
        """The component that an object belongs to."""
        for application in self.cluster.applications:
            for component in application.components:
                if ref in component.objects:
                    return component.name
        return None


@dataclass(slots=True)
class World:
    """The environment of the scenario as far as it could be understood."""

    clusters: dict[str, ClusterFacts] = field(default_factory=dict[str, ClusterFacts])
    hosts: dict[str, Entry] = field(default_factory=dict[str, Entry])
    complete: bool = True
