"""Applications: their objects, images and topology."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itbc.dsl import codes
from itbc.dsl.check import manifests
from itbc.dsl.check.context import AppFacts, Shared
from itbc.dsl.check.objects import containers, resolve_object
from itbc.dsl.diagnostics import Sink, nearest, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.loading import resolved
from itbc.dsl.model import Application, Component, DeclaredObject, Image, ObjectRef
from itbc.dsl.names import Declaration, unique, unknown
from itbc.dsl.source import Span


def application(declaration: Declaration, shared: Shared) -> AppFacts:
    """A declared application with everything that its manifests say."""
    entry, sink = declaration.entry, shared.sink
    folder = declaration.file.path.parent
    namespace = entry.get("namespace", "")
    objects, complete = _objects(entry, folder, namespace, shared)
    images = _images(entry, folder, sink)
    components = _components(entry, objects, complete, sink)
    _image_use(images, objects, complete, sink)
    made = Application(entry.label, namespace, tuple(objects), tuple(images), tuple(components), entry.header)
    _load(entry, made, complete, sink)
    dependencies = frozenset(child.label for child in entry.children("dependency"))
    complete = complete and not entry.damaged and not entry.broken
    return AppFacts(made, entry, complete, dependencies)


def _objects(entry: Entry, folder: Path, namespace: str, shared: Shared) -> tuple[list[DeclaredObject], bool]:
    listed = entry.value("manifests")
    if listed is None:
        return [], False
    complete = listed.complete
    files: dict[Path, Span] = {}
    for item in entry.items("manifests"):
        found = manifests.files_of(folder, item.data, item.span, shared.sink)
        complete = complete and bool(found)
        for file in found:
            files.setdefault(resolved(file.parent, file.name), item.span)
    objects: list[DeclaredObject] = []
    first: dict[ObjectRef, Span] = {}
    for file in sorted(files, key=lambda path: path.as_posix()):
        read, whole = manifests.read(file, namespace, shared.loader, files[file], shared.sink)
        complete = complete and whole
        for declared in read:
            if declared.ref in first:
                shared.sink.report(
                    codes.DUPLICATE_OBJECT,
                    declared.span,
                    f"{declared.ref.kind} `{declared.ref.name}` again",
                    secondary=((first[declared.ref], "declared first here"),),
                    help="remove one of them, or rename it",
                )
                continue
            first[declared.ref] = declared.span
            objects.append(declared)
    return objects, complete


def _images(entry: Entry, folder: Path, sink: Sink) -> list[Image]:
    images: list[Image] = []
    references: dict[str, Span] = {}
    for child in unique(entry.children("image"), sink):
        source, reference = child.value("source"), child.value("reference")
        if source is None or reference is None:
            continue
        if reference.data in references:
            sink.report(
                codes.DUPLICATE_NAME,
                reference.span,
                "another image has this reference",
                secondary=((references[reference.data], "here"),),
                help="give it another tag",
            )
            continue
        references[reference.data] = reference.span
        path = resolved(folder, source.data)
        problem = _source_problem(path)
        if problem:
            sink.report(
                codes.IMAGE_SOURCE, source.span, problem, help="the folder needs a `go.mod` and a Go main package"
            )
            continue
        images.append(Image(child.label, reference.data, path, child.header))
    return images


def _source_problem(path: Path) -> str:
    if not path.is_dir():
        return "there is no such folder"
    if not (path / "go.mod").is_file():
        return "this folder has no `go.mod`"
    if not any(path.glob("*.go")):
        return "this folder has no Go file"
    return ""


def _image_use(images: Sequence[Image], objects: Sequence[DeclaredObject], complete: bool, sink: Sink) -> None:
    if not complete:
        return
    used = {container.get("image") for declared in objects for container in containers(declared.manifest)}
    for image in images:
        if image.reference not in used:
            near = nearest(image.reference, [str(name) for name in used if name])
            sink.report(
                codes.IMAGE_UNUSED,
                image.span,
                f"no container has `image: {image.reference}`",
                help=f"the nearest one in the manifests is `{near}`" if near else "use it in a manifest, or remove it",
            )


def _components(entry: Entry, objects: Sequence[DeclaredObject], complete: bool, sink: Sink) -> list[Component]:
    children = unique(entry.children("component"), sink)
    callable_names = {child.label for child in children} | {child.label for child in entry.children("dependency")}
    owners: dict[ObjectRef, tuple[str, Span]] = {}
    components: list[Component] = []
    for child in children:
        owned: list[ObjectRef] = []
        for item in child.items("objects"):
            found = resolve_object(item.data.parts, objects, complete, f" in application `{entry.label}`", sink)
            if found is None:
                continue
            if found.ref in owners:
                owner, place = owners[found.ref]
                sink.report(
                    codes.SHARED_OBJECT,
                    item.span,
                    f"this is already part of `{owner}`",
                    secondary=((place, "here"),),
                    help="leave it in one of them",
                )
                continue
            owners[found.ref] = (child.label, item.span)
            owned.append(found.ref)
        calls = _calls(child, callable_names, entry, sink)
        components.append(Component(child.label, tuple(owned), tuple(calls), child.header))
    return components


def _calls(child: Entry, known: set[str], entry: Entry, sink: Sink) -> list[str]:
    calls: list[str] = []
    for item in child.items("calls"):
        if item.data == child.label:
            sink.report(codes.CALLS_ITSELF, item.span, "this is the component itself", help="leave it out")
        elif item.data in known:
            calls.append(item.data)
        elif not entry.damaged:
            unknown("component", item.data, item.span, sorted(known), sink, f" in application `{entry.label}`")
    return calls


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that a cluster gives to a load setting, as the text of an environment variable."""

    variable: str
    text: str


def _load(entry: Entry, made: Application, complete: bool, sink: Sink) -> None:
    """Check the application's own `load` block."""
    load = entry.child("load")
    workload = load.value("workload") if load is not None else None
    if load is None or workload is None:
        return
    found = resolve_object(workload.data.parts, made.objects, complete, f" in application `{made.name}`", sink)
    if found is None:
        return
    declared = {variable for container in containers(found.manifest) for variable in _variables(container)}
    for _, value in load.pairs("settings"):
        if value.data not in declared:
            near = nearest(value.data, sorted(declared))
            sink.report(
                codes.LOAD_VARIABLE,
                value.span,
                f"no container of {found.ref.kind} `{found.ref.name}` has a variable `{value.data}`",
                help=f"did you mean `{near}`?" if near else "give the variable a default in the manifest",
                fix=replace(value.span, f'"{near}"') if near else None,
            )


def _variables(container: Any) -> list[str]:
    listed = container.get("env")
    return (
        [str(item["name"]) for item in listed if isinstance(item, dict) and "name" in item]
        if isinstance(listed, list)
        else []
    )


def with_load(facts: AppFacts, deployed: Entry, sink: Sink) -> Application:
    """The application as a cluster runs it: the settings of its load are written into the workload's variables."""
    made = facts.application
    given = deployed.pairs("load")
    if not given:
        return made
    load = facts.entry.child("load")
    if load is None:
        if not facts.entry.damaged:
            place = deployed.names["load"].span
            sink.report(
                codes.UNKNOWN_SETTING,
                place,
                f"application `{made.name}` has no `load` block",
                secondary=((facts.entry.header, "declared here"),),
                help="leave `load` out, or declare a `load` block there",
            )
        return made
    settings = {name.text: value.data for name, value in load.pairs("settings")}
    wanted: dict[str, str] = {}
    for name, value in given:
        if name.text in settings:
            wanted[settings[name.text]] = _env_text(value)
        elif "settings" not in load.broken and (load.value("settings") or value).complete:
            near = nearest(name.text, list(settings))
            sink.report(
                codes.UNKNOWN_SETTING,
                name.span,
                f"`{made.name}` has no load setting `{name.text}`",
                secondary=((load.header, "its settings are declared here"),),
                help=f"did you mean `{near}`?" if near else f"there is {', '.join(f'`{key}`' for key in settings)}",
                fix=replace(name.span, near) if near else None,
            )
    workload = load.value("workload")
    if workload is None or not wanted:
        return made
    target = resolve_object(workload.data.parts, made.objects, False, "", sink)
    if target is None:
        return made
    objects = tuple(
        _configured(declared, wanted) if declared.ref == target.ref else declared for declared in made.objects
    )
    return Application(made.name, made.namespace, objects, made.images, made.components, made.span)


def _env_text(value: Value) -> str:
    if isinstance(value.data, bool):
        return "true" if value.data else "false"
    return str(value.data)


def _configured(declared: DeclaredObject, wanted: dict[str, str]) -> DeclaredObject:
    """The object with the values of some environment variables replaced, in every container that has them."""

    def rewritten(node: Any, path: tuple[str, ...]) -> Any:
        if isinstance(node, dict):
            return {key: rewritten(value, (*path, str(key))) for key, value in node.items()}
        if isinstance(node, list):
            inside_env = path[-1:] == ("env",) and any(part in ("containers", "initContainers") for part in path)
            return [_variable(item, wanted) if inside_env else rewritten(item, path) for item in node]
        return node

    return DeclaredObject(declared.ref, rewritten(declared.manifest, ()), declared.span)


def _variable(item: Any, wanted: dict[str, str]) -> Any:
    if isinstance(item, dict) and item.get("name") in wanted:
        return {"name": item["name"], "value": wanted[str(item["name"])]}
    return item
