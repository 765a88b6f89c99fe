"""The application's components and calls with what was wrong, what rang, and what the agent said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from itbc.contracts.answer import Cause
from itbc.contracts.evaluation import Component, Entity, Truth
from itbc.contracts.evidence import SeenAlert
from itbc.evaluators.topology import Topology, describe, key_of
from itbc.results.report.layers import Drawing, Edge, Item, lay_out
from itbc.results.report.material import Material

NODE_WIDTH, NODE_HEIGHT = 132.0, 48.0
_GAP, _LAYER_GAP, _BEND_WIDTH, _EDGE = 20.0, 46.0, 24.0, 6.0
_MOST_LETTERS = 16
_NOT_A_PLACE = {"alertname", "severity", "namespace", "cluster", "job", "instance"}


@dataclass(frozen=True, slots=True)
class Node:
    """A component as a box. `badge` is what is special about it, in a few words."""

    name: str
    shown: str
    x: float
    y: float
    is_cause: bool
    is_chain: bool
    is_alerting: bool
    badge: str
    words: str


@dataclass(frozen=True, slots=True)
class Line:
    """A call, as an SVG path from the caller's box to the callee's; `is_chain`: the fault's effect came up this way."""

    path: str
    is_chain: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """The whole drawing, its size in pixels, and what it says in words for those who don't see it."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """A cause that the agent named, and whether it is one."""

    words: str
    is_right: bool


def draw(material: Material) -> Graph | None:
    """The graph; None where the scenario has no topology or there is no evaluation spec."""
    if material.evaluation is None or not material.evaluation.truth.topology:
        return None
    truth = material.evaluation.truth
    components = list({each.name: each for each in truth.topology}.values())
    drawing = lay_out({each.name: each.calls for each in components})
    places, width, height = _places(drawing)
    chain = set(pairwise(truth.chain))
    claimed = _claimed_components(truth, material)
    nodes = [
        _node(
            each,
            places[each.name],
            truth,
            _alerting(each, truth, material.alerts),
            is_claimed=each.name in claimed,
        )
        for each in components
    ]
    lines = [
        Line(_path(route, places), is_chain=(edge[1], edge[0]) in chain or edge in chain)
        for edge, route in drawing.routes.items()
    ]
    # What is marked is drawn last, over the rest.
    lines.sort(key=lambda line: line.is_chain)
    return Graph(width, height, tuple(nodes), tuple(lines), _words(nodes, drawing.routes))


def claims(material: Material) -> list[Claimed]:
    """What the agent named as root causes, each right or wrong."""
    answer = None if material.agent is None else material.agent.answer
    if answer is None or material.evaluation is None:
        return []
    truth = material.evaluation.truth
    right = {key_of(each) for each in truth.root_causes}
    found = [Topology(truth).resolve(each) for each in answer.root_causes]
    return [Claimed(each.words, not each.problem and each.key in right) for each in found]


def causes(material: Material) -> list[str]:
    """The true root causes, in words."""
    return [] if material.evaluation is None else [describe(each) for each in material.evaluation.truth.root_causes]


def _claimed_components(truth: Truth, material: Material) -> set[str]:
    answer = None if material.agent is None else material.agent.answer
    named: Sequence[Cause] = [] if answer is None else answer.root_causes
    topology = Topology(truth)
    keys = {claim.key for each in named if not (claim := topology.resolve(each)).problem}
    return {each.name for each in truth.topology if any(key_of(entity) in keys for entity in each.entities)}


def _alerting(component: Component, truth: Truth, alerts: Iterable[SeenAlert]) -> list[str]:
    """The alerts that name a component in a label; one that names none belongs to the end of the chain."""
    names = {component.name, *(entity.name for entity in component.entities)}
    everything = {entity.name for each in truth.topology for entity in each.entities}
    everything |= {each.name for each in truth.topology}
    found: list[str] = []
    for alert in alerts:
        values = {value for label, value in alert.labels.items() if label not in _NOT_A_PLACE}
        at_end = not values & everything and truth.chain[-1:] == [component.name]
        if values & names or at_end:
            found.append(alert.name)
    return found


def _node(
    component: Component, at: tuple[float, float], truth: Truth, alerts: Sequence[str], *, is_claimed: bool
) -> Node:
    roots = {key_of(each) for each in truth.root_causes}
    mine = [each for each in component.entities if key_of(each) in roots]
    badges = ["root cause"] if mine else []
    badges += ["alert"] if alerts else []
    badges += ["claimed"] if is_claimed else []
    in_chain = component.name in truth.chain
    return Node(
        name=component.name,
        shown=_short(component.name),
        x=at[0] - NODE_WIDTH / 2,
        y=at[1],
        is_cause=bool(mine),
        is_chain=in_chain,
        is_alerting=bool(alerts),
        badge=" · ".join(badges) or ("in the chain" if in_chain else ""),
        words=_node_words(component, mine, alerts, is_claimed=is_claimed),
    )


def _node_words(component: Component, roots: Sequence[Entity], alerts: Sequence[str], *, is_claimed: bool) -> str:
    parts = [component.name]
    parts += [f"root cause: {describe(each)}" for each in roots]
    parts += [f"alert: {each}" for each in alerts]
    parts += ["named by the agent"] if is_claimed else []
    return "; ".join(parts)


def _words(nodes: Sequence[Node], edges: Iterable[Edge]) -> str:
    calls: dict[str, list[str]] = {}
    for caller, callee in edges:
        calls.setdefault(caller, []).append(callee)
    said = [f"{caller} calls {', '.join(callees)}" for caller, callees in calls.items()]
    return ". ".join([*(node.words for node in nodes if node.badge), *said])


def _places(drawing: Drawing) -> tuple[dict[Item, tuple[float, float]], float, float]:
    """Each item's middle and top, and the drawing's size."""
    widths = [sum(_width(item) + _GAP for item in row) - _GAP for row in drawing.layers]
    width = max(widths, default=0.0)
    places: dict[Item, tuple[float, float]] = {}
    for number, row in enumerate(drawing.layers):
        x = _EDGE + (width - widths[number]) / 2
        y = _EDGE + number * (NODE_HEIGHT + _LAYER_GAP)
        for item in row:
            places[item] = (x + _width(item) / 2, y)
            x += _width(item) + _GAP
    height = len(drawing.layers) * (NODE_HEIGHT + _LAYER_GAP) - _LAYER_GAP
    return places, width + 2 * _EDGE, height + 2 * _EDGE


def _width(item: Item) -> float:
    return NODE_WIDTH if isinstance(item, str) else _BEND_WIDTH


def _path(route: Sequence[Item], places: dict[Item, tuple[float, float]]) -> str:
    """A smooth line that leaves and enters boxes and layers vertically."""
    down = places[route[0]][1] < places[route[-1]][1]
    bottom, top = (NODE_HEIGHT, 0.0) if down else (0.0, NODE_HEIGHT)
    x, y = places[route[0]]
    y += bottom
    parts = [f"M{x:.1f} {y:.1f}"]
    for item in route[1:]:
        next_x, next_y = places[item][0], places[item][1] + top
        middle = (y + next_y) / 2
        parts.append(f"C{x:.1f} {middle:.1f} {next_x:.1f} {middle:.1f} {next_x:.1f} {next_y:.1f}")
        x, y = next_x, next_y
        if not isinstance(item, str):
            y = places[item][1] + bottom
            parts.append(f"L{x:.1f} {y:.1f}")
    return "".join(parts)


def _short(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"
