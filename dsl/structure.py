"""The structure check: every block, label, attribute and value against the schema, all mistakes at once."""

from __future__ import annotations

import re

from itbc.dsl import codes
from itbc.dsl.conversion import NAME, convert, describe
from itbc.dsl.diagnostics import Edit, Fix, Sink, listing, nearest, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.schema.scenario import FILE
from itbc.dsl.schema.types import BlockSchema, LabelKind, MapOf
from itbc.dsl.source import Span
from itbc.dsl.syntax import Attribute, Block, Body, File, Label, Name, ObjectValue

_LABELS: dict[LabelKind, tuple[re.Pattern[str], str]] = {
    "name": (NAME, "use small letters, digits and `-`, at most 63 of them; begin and end with a letter or digit"),
    "alert": (re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), "use letters, digits and `_`, and begin with a letter"),
    "identifier": (re.compile(r"[A-Za-z_][A-Za-z0-9_-]*"), "use letters, digits, `_` and `-`, and begin with a letter"),
    "path": (re.compile(r"/[^\0]*"), "use an absolute path"),
    "word": (re.compile(r"[^\s\"']+"), "use a word without spaces and quotes"),
}


def structure(tree: File, sink: Sink) -> Entry:
    """Check a file against the schema. What couldn't be understood is left out of the result, and reported."""
    return _block(FILE, (), tree.body, tree.body.span, tree.body.span, sink)


def _block(schema: BlockSchema, labels: tuple[Label, ...], body: Body, header: Span, span: Span, sink: Sink) -> Entry:
    values: dict[str, Value] = {}
    names: dict[str, Name] = {}
    broken: set[str] = set()
    extras: list[Attribute] = []
    blocks: list[Entry] = []
    counts: dict[str, list[Span]] = {}
    for item in body.items:
        if isinstance(item, Attribute):
            _attribute(schema, item, sink, values, names, broken, extras)
        else:
            nested = _nested(schema, item, sink, broken)
            if nested is not None:
                counts.setdefault(item.type.text, []).append(nested.header)
                blocks.append(nested)
    damaged = body.damaged or not all(label.valid for label in labels)
    if not body.damaged:
        _completeness(schema, names, broken, counts, header, sink)
    for nested_schema in schema.blocks:
        found = counts.get(nested_schema.block.type, [])
        if nested_schema.maximum is not None and len(found) > nested_schema.maximum:
            for again in found[nested_schema.maximum :]:
                sink.report(
                    codes.REPEATED_BLOCK,
                    again,
                    f"`{nested_schema.block.type}` is already there",
                    secondary=((found[0], "first here"),),
                    help="merge the two blocks into one, or remove one",
                )
    return Entry(schema, labels, values, names, frozenset(broken), tuple(extras), tuple(blocks), header, span, damaged)


def _attribute(
    schema: BlockSchema,
    item: Attribute,
    sink: Sink,
    values: dict[str, Value],
    names: dict[str, Name],
    broken: set[str],
    extras: list[Attribute],
) -> None:
    name = item.name
    if name.text in names:
        sink.report(
            codes.DUPLICATE_ATTRIBUTE,
            name.span,
            f"`{name.text}` again",
            secondary=((names[name.text].span, "first given here"),),
            help="keep one of the two",
        )
        return
    known = schema.attribute(name.text)
    if known is None:
        nested = schema.nested(name.text)
        if nested is not None:
            _block_as_attribute(item, sink)
            broken.add(name.text)
        elif schema.open_doc:
            names[name.text] = name
            extras.append(item)
        else:
            _unknown(schema, name, sink, broken, block=False)
        return
    names[name.text] = name
    value = convert(item.value, known.type, sink)
    if value is None:
        broken.add(name.text)
    else:
        values[name.text] = value


def _nested(schema: BlockSchema, item: Block, sink: Sink, broken: set[str]) -> Entry | None:
    nested = schema.nested(item.type.text)
    if nested is None:
        known = schema.attribute(item.type.text)
        if known is not None:
            broken.add(item.type.text)
            end = Span(item.header.source, item.header.end, item.header.end)
            takes_object = isinstance(known.type, MapOf) and not item.labels
            sink.report(
                codes.ATTRIBUTE_AS_BLOCK,
                item.header,
                f"`{item.type.text}` is {describe(known.type)}",
                help=f"write `{item.type.text} = {{ … }}`" if takes_object else f"write `{item.type.text} = …`",
                fix=Fix("insert `=`", (Edit(end, " ="),)) if takes_object else None,
            )
        else:
            _unknown(schema, item.type, sink, broken, block=True)
        return None
    _labels(nested.block, item, sink)
    return _block(nested.block, item.labels, item.body, item.header, item.span, sink)


def _block_as_attribute(item: Attribute, sink: Sink) -> None:
    fix = None
    if isinstance(item.value, ObjectValue):
        between = Span(item.span.source, item.name.span.end, item.value.span.start)
        fix = Fix("remove the `=`", (Edit(between, " "),))
    sink.report(
        codes.BLOCK_AS_ATTRIBUTE,
        item.name.span,
        f"`{item.name.text}` is written without `=`",
        help=f"write `{item.name.text} {{ … }}`, each attribute on its own line",
        fix=fix,
    )


def _unknown(schema: BlockSchema, name: Name, sink: Sink, broken: set[str], *, block: bool) -> None:
    attributes = [attribute.name for attribute in schema.attributes]
    blocks = [nested.block.type for nested in schema.blocks]
    same, other = (blocks, attributes) if block else (attributes, blocks)
    near = nearest(name.text, same) or nearest(name.text, other)
    homes = _homes(name.text, block=block)
    where = f"`{schema.type}`" if schema is not FILE else "a file"
    if homes:
        remedy = f"`{name.text}` stands in {listing(homes)}"
        near = None
    elif near:
        broken.add(near)
        remedy = f"did you mean `{near}`?"
    elif same or other:
        kinds = "blocks" if block and blocks else "attributes" if attributes else "blocks"
        remedy = f"the {kinds} here are {listing(blocks if kinds == 'blocks' else attributes)}"
    else:
        remedy = "nothing can stand in this block"
    sink.report(
        codes.UNKNOWN_BLOCK if block else codes.UNKNOWN_ATTRIBUTE,
        name.span,
        f"{where} has no {'block' if block else 'attribute'} `{name.text}`",
        help=remedy,
        fix=replace(name.span, near) if near and near in same else None,
    )


def _homes(name: str, *, block: bool) -> list[str]:
    """The blocks in which a block or attribute of this name can stand."""
    found: list[str] = []
    todo = [FILE]
    while todo:
        schema = todo.pop()
        if (schema.nested(name) if block else schema.attribute(name)) is not None and schema is not FILE:
            found.append(schema.type)
        todo.extend(nested.block for nested in schema.blocks)
    return found


def _labels(schema: BlockSchema, item: Block, sink: Sink) -> None:
    if not all(label.valid for label in item.labels):
        return
    wanted = len(schema.labels)
    if len(item.labels) != wanted:
        extra = item.labels[wanted:]
        place = Span(item.header.source, extra[0].span.start, extra[-1].span.end) if extra else item.header
        form = " ".join([schema.type, *(f'"{label.name}"' for label in schema.labels)])
        sink.report(
            codes.LABEL_COUNT,
            place,
            f"`{schema.type}` has {wanted or 'no'} label{'' if wanted == 1 else 's'}, not {len(item.labels)}",
            help=f"write `{form} {{`",
        )
        return
    for label, known in zip(item.labels, schema.labels, strict=True):
        pattern, remedy = _LABELS[known.kind]
        if not pattern.fullmatch(label.text):
            sink.report(
                codes.BAD_LABEL,
                label.span,
                f"`{label.text}` can't be a name here" if label.text else "this is empty",
                help=remedy,
            )


def _completeness(
    schema: BlockSchema,
    names: dict[str, Name],
    broken: set[str],
    counts: dict[str, list[Span]],
    header: Span,
    sink: Sink,
) -> None:
    place = Span(header.source, header.start, header.start) if schema is FILE else header
    for attribute in schema.attributes:
        if attribute.required and attribute.name not in names and attribute.name not in broken:
            sink.report(
                codes.MISSING_ATTRIBUTE,
                place,
                f"`{schema.type}` needs `{attribute.name}`",
                help=f"add `{attribute.name} = …` ({describe(attribute.type)}): {attribute.doc}",
            )
    for nested in schema.blocks:
        found = len(counts.get(nested.block.type, []))
        if found < nested.minimum and nested.block.type not in broken:
            amount = f"{nested.minimum} blocks" if nested.minimum > 1 else "a block"
            form = " ".join([nested.block.type, *(f'"{label.name}"' for label in nested.block.labels)])
            sink.report(
                codes.MISSING_BLOCK,
                place,
                f"`{schema.type}` needs {amount} `{nested.block.type}`",
                help=f"add `{form} {{ … }}`: {nested.block.doc}",
            )
    for choice in schema.exclusive:
        given = [name for name in choice if name in names]
        if len(given) == 1 or (not given and any(name in broken for name in choice)):
            continue
        spot = names[given[1]].span if given else place
        message = f"`{given[1]}` stands beside `{given[0]}`" if given else f"`{schema.type}` has none of them"
        secondary = ((names[given[0]].span, "the other one"),) if given else ()
        sink.report(
            codes.EXACTLY_ONE, spot, message, secondary=secondary, help=f"give exactly one of {listing(list(choice))}"
        )
