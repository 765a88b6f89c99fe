"""Which thing of the topology a claim means, and how far apart two things are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from itbc.contracts.answer import Cause
from itbc.contracts.evaluation import Component, Entity, Truth


class Key(NamedTuple):
    """The identity of an entity in a form that compares: kinds are compared without regard to case."""

    cluster: str
    namespace: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What an answer's cause turned out to mean.

    `key` is the entity, or the claim's own words where it means none that is
    known. `distance` knows nothing of the latter. `problem` says why there is
    no entity, and is empty where there is one.
    """

    key: Key
    words: str
    problem: str = ""


def key_of(entity: Entity) -> Key:
    """The comparable identity of an entity."""
    return Key(entity.cluster, entity.namespace, entity.kind.lower(), entity.name)


def describe(entity: Entity) -> str:
    """An entity in words, as `kubectl` users write it."""
    place = f" in {entity.namespace}" if entity.namespace else ""
    return f"{entity.kind} {entity.name}{place}"


class Topology:
    """The components of an application, their objects and calls, seen as an undirected graph."""

    def __init__(self, truth: Truth) -> None:
        self._entities = {key_of(e): e for e in _known(truth)}
        self._components: dict[Key, list[str]] = {}
        for component in truth.topology:
            for entity in component.entities:
                self._components.setdefault(key_of(entity), []).append(component.name)
        self._hops = _all_hops(truth.topology)

    @property
    def entities(self) -> Sequence[Entity]:
        """Everything that can be named, in a fixed order."""
        return [self._entities[key] for key in sorted(self._entities)]

    def resolve(self, cause: Cause) -> Claim:
        """Find the entity a claim means.

        The kind is matched without regard to case; namespace and cluster may
        be left out where that leaves one candidate.
        """
        wanted = Key(cause.cluster.strip(), cause.namespace.strip(), cause.kind.strip().lower(), cause.name.strip())
        words = describe(Entity(cluster=wanted.cluster, namespace=wanted.namespace, kind=cause.kind, name=wanted.name))
        found = [
            key
            for key in self._entities
            if key.kind == wanted.kind
            and key.name == wanted.name
            and wanted.namespace in {"", key.namespace}
            and wanted.cluster in {"", key.cluster}
        ]
        if len(found) == 1:
            return Claim(found[0], describe(self._entities[found[0]]))
        problem = (
            "no part of the application"
            if not found
            else "more than one thing is called so: name its namespace and cluster"
        )
        return Claim(wanted, words, problem)

    def distance(self, one: Key, other: Key) -> int | None:
        """Steps between two entities; None where they aren't connected.

        0 is the entity itself, 1 another object of the same component, and
        each call between components, in either direction, is one step more.
        """
        if one == other:
            return 0
        pairs = product(self._components.get(one, ()), self._components.get(other, ()))
        hops = [h for a, b in pairs if (h := self._hops[a].get(b)) is not None]
        return 1 + min(hops) if hops else None


def _known(truth: Truth) -> Iterable[Entity]:
    for component in truth.topology:
        yield from component.entities
    yield from truth.root_causes


def _all_hops(components: Sequence[Component]) -> dict[str, dict[str, int]]:
    """For each component, the fewest calls to every component that it is connected with."""
    neighbours: dict[str, set[str]] = {c.name: set() for c in components}
    for component in components:
        for callee in component.calls:
            if callee in neighbours:
                neighbours[component.name].add(callee)
                neighbours[callee].add(component.name)
    return {name: _hops_from(name, neighbours) for name in neighbours}


def _hops_from(start: str, neighbours: dict[str, set[str]]) -> dict[str, int]:
    hops = {start: 0}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for there in neighbours[here] - hops.keys():
            hops[there] = hops[here] + 1
            queue.append(there)
    return hops
