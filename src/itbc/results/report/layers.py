"""A layered drawing of a directed graph: callers above what they call, few crossings, the same each time.

The four classic steps: turn the edges that close circles round, give each node
the layer below its lowest caller, put a bend into each layer that a long edge
crosses, and sort every layer by where its neighbours are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[str, str]
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Bend:
    """The place where an edge crosses a layer that it neither begins nor ends in."""

    edge: Edge
    layer: int


Item = str | Bend


@dataclass(frozen=True, slots=True)
class Drawing:
    """Layers from the top, each from left to right. `routes` has each edge's items from its caller to its callee."""

    layers: tuple[tuple[Item, ...], ...]
    routes: Mapping[Edge, tuple[Item, ...]]


def lay_out(calls: Mapping[str, Sequence[str]]) -> Drawing:
    """The drawing of a graph; `calls` has every node. Calls to oneself and to unknown nodes are left out."""
    edges = list(
        dict.fromkeys((node, callee) for node in calls for callee in calls[node] if callee in calls and callee != node)
    )
    turned = _closing_circles(calls, edges)
    downward = {edge: (edge[1], edge[0]) if edge in turned else edge for edge in edges}
    layer = _layers(list(calls), list(downward.values()))
    routes: dict[Edge, tuple[Item, ...]] = {}
    for edge, (top, bottom) in downward.items():
        bends = [Bend(edge, each) for each in range(layer[top] + 1, layer[bottom])]
        route: tuple[Item, ...] = (top, *bends, bottom)
        routes[edge] = route[::-1] if edge in turned else route
    rows: list[list[Item]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for node in calls:
        rows[layer[node]].append(node)
    for route in routes.values():
        for item in route:
            if isinstance(item, Bend):
                rows[item.layer].append(item)
    _sort(rows, routes)
    return Drawing(tuple(tuple(row) for row in rows), routes)


def _closing_circles(nodes: Mapping[str, object], edges: Sequence[Edge]) -> set[Edge]:
    """The edges that lead back to where a walk came from."""
    after: dict[str, list[str]] = {node: [] for node in nodes}
    for start, end in edges:
        after[start].append(end)
    found: set[Edge] = set()
    seen: set[str] = set()
    for root in nodes:
        if root in seen:
            continue
        seen.add(root)
        path = {root}
        walk = [(root, iter(after[root]))]
        while walk:
            node, rest = walk[-1]
            there = next(rest, None)
            if there is None:
                walk.pop()
                path.discard(node)
            elif there in path:
                found.add((node, there))
            elif there not in seen:
                seen.add(there)
                path.add(there)
                walk.append((there, iter(after[there])))
    return found


def _layers(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Each node's layer: one below the lowest of those that lead to it."""
    waiting = dict.fromkeys(nodes, 0)
    for _, end in edges:
        waiting[end] += 1
    layer = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not waiting[node]]
    while ready:
        node = ready.pop(0)
        for start, end in edges:
            if start == node:
                layer[end] = max(layer[end], layer[node] + 1)
                waiting[end] -= 1
                if not waiting[end]:
                    ready.append(end)
    return layer


def _sort(rows: list[list[Item]], routes: Mapping[Edge, tuple[Item, ...]]) -> None:
    """Sort every layer by the middle of its neighbours in the layer before, down and up, and keep the best."""
    links: list[tuple[Item, Item]] = [pair for route in routes.values() for pair in pairwise(route)]
    neighbours: dict[Item, list[Item]] = {item: [] for row in rows for item in row}
    for one, other in links:
        neighbours[one].append(other)
        neighbours[other].append(one)
    best, fewest = [list(row) for row in rows], _crossings(rows, links)
    for sweep in range(_SWEEPS):
        order = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for number in order:
            fixed = {item: place for place, item in enumerate(rows[number - 1 if sweep % 2 == 0 else number + 1])}
            here = {item: float(place) for place, item in enumerate(rows[number])}
            for item in rows[number]:
                places = [fixed[each] for each in neighbours[item] if each in fixed]
                if places:
                    here[item] = sum(places) / len(places)
            rows[number].sort(key=here.__getitem__)
        crossings = _crossings(rows, links)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    rows[:] = best


def _crossings(rows: Sequence[Sequence[Item]], links: Sequence[tuple[Item, Item]]) -> int:
    place = {item: (number, at) for number, row in enumerate(rows) for at, item in enumerate(row)}
    spans: dict[int, list[tuple[int, int]]] = {}
    for one, other in links:
        (top, from_), (_, to) = sorted((place[one], place[other]))
        spans.setdefault(top, []).append((from_, to))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0
        for pairs in spans.values()
        for index, a in enumerate(pairs)
        for b in pairs[index + 1 :]
    )
