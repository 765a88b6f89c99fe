"""Faults: each against the catalogue and the object it aims at."""

from __future__ import annotations

from typing import Any

from itbc.dsl import codes
from itbc.dsl.catalogue import FaultKind, FaultRequest, Parameter
from itbc.dsl.check.context import ClusterFacts, Shared, World
from itbc.dsl.check.environment import find_cluster
from itbc.dsl.conversion import convert
from itbc.dsl.diagnostics import listing, nearest, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.model import DeclaredObject, Fault, ObjectRef
from itbc.dsl.names import unique
from itbc.dsl.schema.types import Anything, BooleanType, Duration, NumberType, Quantity, Text, ValueType
from itbc.dsl.source import Span
from itbc.dsl.syntax import Attribute


def faults(scenario: Entry, world: World, shared: Shared) -> tuple[list[Fault], bool]:
    """The faults of a scenario, and whether all of them could be understood."""
    made: list[Fault] = []
    entries = scenario.children("fault")
    whole = not scenario.damaged and "fault" not in scenario.broken
    whole = whole and all(label.valid for entry in entries for label in entry.labels)
    taken: dict[tuple[str, ObjectRef, str], Fault] = {}
    for entry in unique(entries, shared.sink):
        found = _fault(entry, world, shared)
        if found is None:
            whole = False
            continue
        for touch in found.touches:
            key = (found.request.cluster, found.place_of(touch), touch.pointer)
            if key in taken:
                shared.sink.report(
                    codes.FAULTS_COLLIDE,
                    entry.header,
                    f"it changes the same part of {touch.kind} `{touch.name}`",
                    secondary=((taken[key].span, "as this one"),),
                    help="aim one of them at something else",
                )
            taken.setdefault(key, found)
        made.append(found)
    return made, whole


def _fault(entry: Entry, world: World, shared: Shared) -> Fault | None:
    kind = _kind(entry, shared)
    parameters = _parameters(entry, kind, shared) if kind is not None else None
    aimed = _target(entry, world, shared)
    if kind is None or aimed is None or not _suits(entry, kind, aimed[1], shared) or parameters is None:
        return None
    cluster, declared = aimed
    request = FaultRequest(
        cluster.cluster.name,
        declared.ref.namespace,
        declared.ref.kind,
        declared.ref.name,
        declared.manifest,
        parameters,
        tuple(other.manifest for other in cluster.objects()),
    )
    problems = list(kind.problems(request))
    for problem in problems:
        shared.sink.report(
            codes.FAULT_PROBLEM,
            _argument_place(entry, problem.parameter) or entry.values["target"].span,
            problem.message,
            secondary=((declared.span, "the object it aims at"),),
            help=problem.help,
        )
    return None if problems else Fault(entry.label, kind, request, tuple(kind.touches(request)), entry.header)


def _target(entry: Entry, world: World, shared: Shared) -> tuple[ClusterFacts, DeclaredObject] | None:
    """The object that a fault aims at, and the cluster it is in."""
    target = entry.value("target")
    if target is None or target.data.parts[0].text != "cluster":
        return None
    cluster = find_cluster(target.data, world, shared.sink)
    declared = cluster.pool.find(target.data.parts, shared.sink) if cluster is not None else None
    return None if cluster is None or declared is None else (cluster, declared)


def _suits(entry: Entry, kind: FaultKind, declared: DeclaredObject, shared: Shared) -> bool:
    """Whether a kind of fault can aim at an object of this kind; reports where it can't."""
    if declared.ref.kind in kind.targets:
        return True
    shared.sink.report(
        codes.FAULT_TARGET,
        entry.values["target"].span,
        f"this is a {declared.ref.kind}",
        secondary=((entry.values["kind"].span, "this kind of fault"),),
        help=f"`{kind.kind}` aims at {listing(sorted(kind.targets))}",
    )
    return False


def _argument_place(entry: Entry, parameter: str) -> Span | None:
    return next((item.value.span for item in entry.extras if item.name.text == parameter), None)


def _kind(entry: Entry, shared: Shared) -> FaultKind | None:
    given = entry.value("kind")
    if given is None:
        return None
    name = given.data.text
    found = shared.catalogue.faults.get(name)
    if found is None:
        known = sorted(shared.catalogue.faults)
        near = nearest(name, known)
        shared.sink.report(
            codes.UNKNOWN_FAULT,
            given.span,
            f"the catalogue has no fault `{name}`",
            help=f"did you mean `{near}`?" if near else f"the catalogue has {listing(known)}",
            fix=replace(given.span, near) if near else None,
        )
    return found


def _parameters(entry: Entry, kind: FaultKind, shared: Shared) -> dict[str, Any] | None:
    """The typed parameters with defaults filled in, or None where one is wrong."""
    sink = shared.sink
    known = {parameter.name: parameter for parameter in kind.parameters}
    values: dict[str, Any] = {
        parameter.name: parameter.default for parameter in kind.parameters if not parameter.required
    }
    good = True
    given: set[str] = set()
    for item in entry.extras:
        parameter = known.get(item.name.text)
        if parameter is None:
            good = False
            near = nearest(
                item.name.text, [name for name in known if name not in {extra.name.text for extra in entry.extras}]
            )
            if near:
                given.add(near)
            sink.report(
                codes.UNKNOWN_PARAMETER,
                item.name.span,
                f"`{kind.kind}` has no parameter `{item.name.text}`",
                help=f"did you mean `{near}`?" if near else _parameter_list(kind),
                fix=replace(item.name.span, near) if near else None,
            )
            continue
        given.add(parameter.name)
        value = _parameter(item, parameter, shared)
        if value is None:
            good = False
        else:
            values[parameter.name] = value.data
    for parameter in kind.parameters:
        if parameter.required and parameter.name not in given and not entry.damaged:
            good = False
            sink.report(
                codes.MISSING_PARAMETER,
                entry.header,
                f"`{kind.kind}` needs `{parameter.name}`",
                help=f"add `{parameter.name} = …`: {parameter.doc}",
            )
    return values if good and not entry.damaged else None


def _parameter_list(kind: FaultKind) -> str:
    names = [parameter.name for parameter in kind.parameters]
    return f"its parameters are {listing(names)}" if names else "it has no parameters"


def _parameter(item: Attribute, parameter: Parameter, shared: Shared) -> Value | None:
    types: dict[str, ValueType] = {
        "string": Text(),
        "name": Text("word"),
        "bool": BooleanType(),
        "number": NumberType(False, parameter.minimum, parameter.maximum),
        "integer": NumberType(True, parameter.minimum, parameter.maximum),
        "duration": Duration(
            0.0 if parameter.minimum is None else parameter.minimum,
            7 * 86400.0 if parameter.maximum is None else parameter.maximum,
        ),
        "quantity": Quantity("memory", 0.0 if parameter.minimum is None else parameter.minimum),
    }
    return convert(item.value, types.get(parameter.type, Anything()), shared.sink)
