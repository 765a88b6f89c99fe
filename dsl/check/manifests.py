"""Reading an application's Kubernetes YAML as Kubernetes would, with every problem at its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink
from itbc.dsl.kubernetes import CLUSTER_SCOPED
from itbc.dsl.loading import Loader
from itbc.dsl.model import DeclaredObject, ObjectRef
from itbc.dsl.source import SourceFile, Span

MAX_NODES = 200_000
"""How many values the documents of one file may have when aliases are written out."""

MAX_DEPTH = 64
_SUFFIXES = (".yaml", ".yml")


class _Loader(yaml.SafeLoader):
    """YAML as Kubernetes reads it: dates and sexagesimal numbers are strings."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag
        not in (
            "tag:yaml.org,2002:timestamp",
            "tag:yaml.org,2002:int",
            "tag:yaml.org,2002:float",
            "tag:yaml.org,2002:value",
        )
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*|0[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
    list("-+0123456789."),
)


def files_of(folder: Path, path: str, place: Span, sink: Sink) -> list[Path]:
    """The YAML files of a `manifests` entry, sorted; reports where there is none."""
    target = folder / path
    if target.is_file():
        return [target]
    if target.is_dir():
        found = sorted(
            (file for file in target.rglob("*") if file.suffix in _SUFFIXES and file.is_file()),
            key=lambda f: f.as_posix(),
        )
        if found:
            return found
        sink.report(
            codes.MANIFEST_MISSING,
            place,
            "this folder has no `.yaml` file",
            help="put the application's manifests there",
        )
        return []
    sink.report(
        codes.MANIFEST_MISSING,
        place,
        "there is no such file or folder",
        help="the path is relative to the file it is written in",
    )
    return []


def read(file: Path, namespace: str, loader: Loader, place: Span, sink: Sink) -> tuple[list[DeclaredObject], bool]:
    """The objects of one file in order, with the namespace filled in, and whether all of the file could be read."""
    source = loader.text(file, place)
    if source is None:
        return [], False
    objects: list[DeclaredObject] = []
    complete = True
    try:
        nodes = list(yaml.compose_all(source.text, _Loader))
    except yaml.YAMLError as wrong:
        sink.report(codes.MANIFEST_SYNTAX, _place(source, wrong), _reason(wrong), help="mend the YAML")
        return [], False
    except RecursionError:
        sink.report(
            codes.MANIFEST_SYNTAX,
            Span(source, 0, 0),
            "it is nested too deeply",
            help=f"at most {MAX_DEPTH} levels are read",
        )
        return [], False
    for node in nodes:
        if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
            continue
        if not _sane(node, source, sink):
            complete = False
            continue
        try:
            document: Any = _Loader("").construct_document(node)
        except yaml.YAMLError as wrong:
            sink.report(codes.MANIFEST_SYNTAX, _place(source, wrong), _reason(wrong), help="mend the YAML")
            complete = False
            continue
        for item, span in _items(document, node, source):
            declared = _declared(item, span, namespace, sink)
            complete = complete and declared is not None
            if declared is not None:
                objects.append(declared)
    return objects, complete


def _items(document: Any, node: yaml.Node, source: SourceFile) -> Iterator[tuple[Any, Span]]:
    """The object itself, or the items of a `List`."""
    if isinstance(document, dict) and document.get("kind") == "List" and isinstance(document.get("items"), list):
        assert_node = _value_node(node, "items")
        places = assert_node.value if isinstance(assert_node, yaml.SequenceNode) else []
        for item, place in zip(document["items"], places, strict=False):
            yield item, _line(source, place)
        return
    yield document, _line(source, node)


def _value_node(node: yaml.Node, key: str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == key:
                found: yaml.Node = value
                return found
    return None


def _declared(item: Any, span: Span, namespace: str, sink: Sink) -> DeclaredObject | None:
    problem = _not_object(item)
    if problem:
        sink.report(
            codes.MANIFEST_NOT_OBJECT,
            span,
            problem,
            help="every document needs `apiVersion`, `kind` and `metadata.name`",
        )
        return None
    kind, name = item["kind"], item["metadata"]["name"]
    given = item["metadata"].get("namespace")
    if kind in CLUSTER_SCOPED:
        return DeclaredObject(ObjectRef(kind, name, ""), item, span)
    if given not in (None, "", namespace):
        sink.report(
            codes.MANIFEST_NAMESPACE,
            span,
            f"{kind} `{name}` is in namespace `{given}`, the application in `{namespace}`",
            help="leave `metadata.namespace` out; it is filled in",
        )
        return None
    filled = {**item, "metadata": {**item["metadata"], "namespace": namespace}}
    return DeclaredObject(ObjectRef(kind, name, namespace), filled, span)


def _not_object(item: Any) -> str:
    if not isinstance(item, dict):
        return "this document isn't a mapping"
    for key in ("apiVersion", "kind"):
        if not isinstance(item.get(key), str) or not item[key]:
            return f"`{key}` is missing"
    metadata = item.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str) or not metadata["name"]:
        return "`metadata.name` is missing"
    return ""


def _sane(root: yaml.Node, source: SourceFile, sink: Sink) -> bool:
    """Whether a document has no key twice, no endless alias, and a size that can be written out."""
    count = 0
    good = True
    stack: list[tuple[yaml.Node, int]] = [(root, 1)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if depth > MAX_DEPTH or count > MAX_NODES:
            sink.report(
                codes.MANIFEST_SYNTAX,
                _line(source, root),
                "with its aliases written out, this is too large",
                help=f"at most {MAX_DEPTH} levels and {MAX_NODES} values are read",
            )
            return False
        if isinstance(node, yaml.SequenceNode):
            stack.extend((child, depth + 1) for child in node.value)
        elif isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                stack.append((value, depth + 1))
                if not isinstance(key, yaml.ScalarNode):
                    sink.report(
                        codes.MANIFEST_SYNTAX, _line(source, key), "a key must be a string", help="write a plain key"
                    )
                    good = False
                    continue
                if key.value in seen:
                    sink.report(
                        codes.MANIFEST_SYNTAX,
                        _line(source, key),
                        f"the key `{key.value}` is given twice",
                        help="keep one of the two",
                    )
                    good = False
                seen.add(key.value)
    return good


def _line(source: SourceFile, node: yaml.Node) -> Span:
    """The first line of a node."""
    start = min(node.start_mark.index, len(source.text))
    end = source.text.find("\n", start)
    stop = node.end_mark.index if node.end_mark.line == node.start_mark.line else end
    return Span(source, start, max(start, min(stop if stop >= 0 else len(source.text), len(source.text))))


def _place(source: SourceFile, wrong: yaml.YAMLError) -> Span:
    mark = wrong.problem_mark if isinstance(wrong, yaml.MarkedYAMLError) else None
    if mark is not None:
        start = min(mark.index, len(source.text))
        return Span(source, start, min(start + 1, len(source.text)))
    position = getattr(wrong, "position", 0)
    start = min(position if isinstance(position, int) else 0, len(source.text))
    return Span(source, start, min(start + 1, len(source.text)))


def _reason(wrong: yaml.YAMLError) -> str:
    if isinstance(wrong, yaml.MarkedYAMLError):
        return " ".join(part for part in (wrong.context, wrong.problem) if part) or "this isn't YAML"
    reason = getattr(wrong, "reason", "")
    return str(reason) or "this isn't YAML"
