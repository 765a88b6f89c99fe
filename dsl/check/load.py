"""The load on an application: its `load` block, and the values that a cluster gives to its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from itbc.dsl import codes
from itbc.dsl.check.context import AppFacts
from itbc.dsl.check.objects import Pool, containers
from itbc.dsl.diagnostics import Sink, listing, nearest, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.model import Application, DeclaredObject


def check_load(load: Entry, pool: Pool, sink: Sink) -> None:
    """Check an application's own `load` block: its workload must be declared, and have the variables."""
    workload = load.value("workload")
    found = pool.find(workload.data.parts, sink) if workload is not None else None
    if found is None:
        return
    declared = sorted({variable for container in containers(found.manifest) for variable in _variables(container)})
    for _, value in load.pairs("settings"):
        if value.data not in declared:
            near = nearest(value.data, declared)
            sink.report(
                codes.LOAD_VARIABLE,
                value.span,
                f"no container of {found.ref.kind} `{found.ref.name}` has a variable `{value.data}`",
                help=f"did you mean `{near}`?" if near else "give the variable a default in the manifest",
                fix=replace(value.span, f'"{near}"') if near else None,
            )


def _variables(container: Mapping[str, Any]) -> list[str]:
    listed = container.get("env")
    items: list[Any] = listed if isinstance(listed, list) else []
    return [str(item["name"]) for item in items if isinstance(item, dict) and "name" in item]


def with_load(facts: AppFacts, deployed: Entry, sink: Sink) -> Application:
    """The application as a cluster runs it: the settings of its load are written into the workload's variables."""
    made = facts.application
    if "load" not in deployed.values:
        return made
    load = facts.entry.child("load")
    if load is None:
        if not facts.entry.damaged:
            sink.report(
                codes.UNKNOWN_SETTING,
                deployed.names["load"].span,
                f"application `{made.name}` has no `load` block",
                secondary=((facts.entry.header, "declared here"),),
                help="leave `load` out, or declare a `load` block there",
            )
        return made
    wanted = _wanted(made.name, load, deployed, sink)
    workload = load.value("workload")
    target = Pool(made.objects, complete=False, where="").find(workload.data.parts, Sink()) if workload else None
    if target is None or not wanted:
        return made
    objects = tuple(
        _configured(declared, wanted) if declared.ref == target.ref else declared for declared in made.objects
    )
    return Application(made.name, made.namespace, objects, made.images, made.components, made.span)


def _wanted(application: str, load: Entry, deployed: Entry, sink: Sink) -> dict[str, str]:
    """The values by environment variable; settings that the application doesn't have are reported."""
    settings = {name.text: value.data for name, value in load.pairs("settings")}
    declared = load.value("settings")
    wanted: dict[str, str] = {}
    for name, value in deployed.pairs("load"):
        if name.text in settings:
            wanted[settings[name.text]] = _env_text(value)
        elif declared is not None and declared.complete:
            near = nearest(name.text, list(settings))
            sink.report(
                codes.UNKNOWN_SETTING,
                name.span,
                f"`{application}` has no load setting `{name.text}`",
                secondary=((load.header, "its settings are declared here"),),
                help=f"did you mean `{near}`?" if near else f"its settings are {listing(list(settings))}",
                fix=replace(name.span, near) if near else None,
            )
    return wanted


def _env_text(value: Value) -> str:
    if isinstance(value.data, bool):
        return "true" if value.data else "false"
    return str(value.data)


def _configured(declared: DeclaredObject, wanted: Mapping[str, str]) -> DeclaredObject:
    """The object with the values of some environment variables replaced, in every container that has them."""

    def rewritten(node: Any, path: tuple[str, ...]) -> Any:
        if isinstance(node, dict):
            return {key: rewritten(value, (*path, str(key))) for key, value in node.items()}
        if isinstance(node, list):
            inside_env = path[-1:] == ("env",) and any(part in {"containers", "initContainers"} for part in path)
            return [_variable(item, wanted) if inside_env else rewritten(item, path) for item in node]
        return node

    return DeclaredObject(declared.ref, rewritten(declared.manifest, ()), declared.span)


def _variable(item: Any, wanted: Mapping[str, str]) -> Any:
    if isinstance(item, dict) and item.get("name") in wanted:
        return {"name": item["name"], "value": wanted[str(item["name"])]}
    return item
