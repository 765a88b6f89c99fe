"""Applications: their objects, images and topology."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from itbc.dsl import codes
from itbc.dsl.check import manifests
from itbc.dsl.check.context import AppFacts, Shared
from itbc.dsl.check.load import check_load
from itbc.dsl.check.objects import Pool, containers
from itbc.dsl.diagnostics import Sink, nearest
from itbc.dsl.entries import Entry
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
    pool = Pool(objects, complete, f" in application `{entry.label}`")
    components = _components(entry, pool, sink)
    if complete:
        _image_use(images, objects, sink)
    made = Application(entry.label, namespace, tuple(objects), tuple(images), tuple(components), entry.header)
    load = entry.child("load")
    if load is not None:
        check_load(load, pool, sink)
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


def _image_use(images: Sequence[Image], objects: Sequence[DeclaredObject], sink: Sink) -> None:
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


def _components(entry: Entry, pool: Pool, sink: Sink) -> list[Component]:
    children = unique(entry.children("component"), sink)
    callable_names = {child.label for child in children} | {child.label for child in entry.children("dependency")}
    owners: dict[ObjectRef, tuple[str, Span]] = {}
    components: list[Component] = []
    for child in children:
        owned: list[ObjectRef] = []
        for item in child.items("objects"):
            found = pool.find(item.data.parts, sink)
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
        calls = _calls(child, sorted(callable_names), entry, sink)
        components.append(Component(child.label, tuple(owned), tuple(calls), child.header))
    return components


def _calls(child: Entry, known: Sequence[str], entry: Entry, sink: Sink) -> list[str]:
    calls: list[str] = []
    for item in child.items("calls"):
        if item.data == child.label:
            sink.report(codes.CALLS_ITSELF, item.span, "this is the component itself", help="leave it out")
        elif item.data in known:
            calls.append(item.data)
        elif not entry.damaged:
            unknown("component", item.data, item.span, known, sink, where=f" in application `{entry.label}`")
    return calls
