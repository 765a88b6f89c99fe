"""The structure check: every block, label, attribute and value against the schema, all mistakes at once."""

from __future__ import annotations

import re

from itbc.dsl import codes
from itbc.dsl.conversion import NAME, convert
from itbc.dsl.describing import describe
from itbc.dsl.diagnostics import Edit, Fix, Sink, listing, nearest, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.schema.scenario import FILE
from itbc.dsl.schema.types import AttributeSchema, BlockSchema, LabelKind, MapOf
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
    return _Checker(FILE, tree.body.span, sink).check((), tree.body, tree.body.span)


class _Checker:
    """Checks the items of one block (or file) and keeps what could be understood of them."""

    def __init__(self, schema: BlockSchema, header: Span, sink: Sink) -> None:
        self.schema = schema
        self.header = header
        self.sink = sink
        self.values: dict[str, Value] = {}
        self.names: dict[str, Name] = {}
        self.broken: set[str] = set()
        self.extras: list[Attribute] = []
        self.blocks: list[Entry] = []

    def check(self, labels: tuple[Label, ...], body: Body, span: Span) -> Entry:
        for item in body.items:
            if isinstance(item, Attribute):
                self._attribute(item)
            else:
                self._block(item)
        if not body.damaged:
            self._missing_attributes()
            self._missing_blocks()
            self._choices()
        self._repeated_blocks()
        return Entry(
            self.schema,
            labels,
            self.values,
            self.names,
            frozenset(self.broken),
            tuple(self.extras),
            tuple(self.blocks),
            self.header,
            span,
            damaged=body.damaged or not all(label.valid for label in labels),
        )

    # -- items ---------------------------------------------------------------------------------------------------

    def _attribute(self, item: Attribute) -> None:
        name = item.name
        if name.text in self.names:
            self.sink.report(
                codes.DUPLICATE_ATTRIBUTE,
                name.span,
                f"`{name.text}` again",
                secondary=((self.names[name.text].span, "first given here"),),
                help="keep one of the two",
            )
            return
        known = self.schema.attribute(name.text)
        if known is not None:
            self.names[name.text] = name
            value = convert(item.value, known.type, self.sink)
            if value is None:
                self.broken.add(name.text)
            else:
                self.values[name.text] = value
        elif self.schema.nested(name.text) is not None:
            self._block_as_attribute(item)
        elif self.schema.open_doc:
            self.names[name.text] = name
            self.extras.append(item)
        else:
            self._unknown(name, block=False)

    def _block(self, item: Block) -> None:
        nested = self.schema.nested(item.type.text)
        attribute = self.schema.attribute(item.type.text)
        if nested is not None:
            _labels(nested.block, item, self.sink)
            checker = _Checker(nested.block, item.header, self.sink)
            self.blocks.append(checker.check(item.labels, item.body, item.span))
        elif attribute is not None:
            self._attribute_as_block(item, attribute)
        else:
            self._unknown(item.type, block=True)

    def _block_as_attribute(self, item: Attribute) -> None:
        self.broken.add(item.name.text)
        fix = None
        if isinstance(item.value, ObjectValue):
            between = Span(item.span.source, item.name.span.end, item.value.span.start)
            fix = Fix("remove the `=`", (Edit(between, " "),))
        self.sink.report(
            codes.BLOCK_AS_ATTRIBUTE,
            item.name.span,
            f"`{item.name.text}` is written without `=`",
            help=f"write `{item.name.text} {{ … }}`, each attribute on its own line",
            fix=fix,
        )

    def _attribute_as_block(self, item: Block, attribute: AttributeSchema) -> None:
        self.broken.add(attribute.name)
        end = Span(item.header.source, item.header.end, item.header.end)
        takes_object = isinstance(attribute.type, MapOf) and not item.labels
        self.sink.report(
            codes.ATTRIBUTE_AS_BLOCK,
            item.header,
            f"`{attribute.name}` is {describe(attribute.type)}",
            help=f"write `{attribute.name} = {{ … }}`" if takes_object else f"write `{attribute.name} = …`",
            fix=Fix("insert `=`", (Edit(end, " ="),)) if takes_object else None,
        )

    def _unknown(self, name: Name, *, block: bool) -> None:
        attributes = [attribute.name for attribute in self.schema.attributes]
        blocks = [nested.block.type for nested in self.schema.blocks]
        same, other = (blocks, attributes) if block else (attributes, blocks)
        homes = _homes(name.text, block=block)
        near = None if homes else nearest(name.text, same) or nearest(name.text, other)
        if homes:
            remedy = f"`{name.text}` stands in {listing(homes)}"
        elif near:
            self.broken.add(near)
            remedy = f"did you mean `{near}`?"
        elif same or other:
            kind = "blocks" if same is blocks or not same else "attributes"
            remedy = f"the {kind} here are {listing(blocks if kind == 'blocks' else attributes)}"
        else:
            remedy = "nothing can stand in this block"
        where = f"`{self.schema.type}`" if self.schema is not FILE else "a file"
        self.sink.report(
            codes.UNKNOWN_BLOCK if block else codes.UNKNOWN_ATTRIBUTE,
            name.span,
            f"{where} has no {'block' if block else 'attribute'} `{name.text}`",
            help=remedy,
            fix=replace(name.span, near) if near and near in same else None,
        )

    # -- the whole -----------------------------------------------------------------------------------------------

    def _missing_attributes(self) -> None:
        for attribute in self.schema.attributes:
            if attribute.required and attribute.name not in self.names and attribute.name not in self.broken:
                self.sink.report(
                    codes.MISSING_ATTRIBUTE,
                    self.header,
                    f"`{self.schema.type}` needs `{attribute.name}`",
                    help=f"add `{attribute.name} = …` ({describe(attribute.type)}): {attribute.doc}",
                )

    def _missing_blocks(self) -> None:
        for nested in self.schema.blocks:
            kind = nested.block.type
            found = sum(block.schema is nested.block for block in self.blocks)
            if found < nested.minimum and kind not in self.broken:
                amount = f"{nested.minimum} blocks" if nested.minimum > 1 else "a block"
                form = " ".join([kind, *(f'"{label.name}"' for label in nested.block.labels)])
                self.sink.report(
                    codes.MISSING_BLOCK,
                    self.header,
                    f"`{self.schema.type}` needs {amount} `{kind}`",
                    help=f"add `{form} {{ … }}`: {nested.block.doc}",
                )

    def _repeated_blocks(self) -> None:
        for nested in self.schema.blocks:
            found = [block.header for block in self.blocks if block.schema is nested.block]
            for again in found[nested.maximum :] if nested.maximum is not None else ():
                self.sink.report(
                    codes.REPEATED_BLOCK,
                    again,
                    f"`{nested.block.type}` is already there",
                    secondary=((found[0], "first here"),),
                    help="merge the two blocks into one, or remove one",
                )

    def _choices(self) -> None:
        for choice in self.schema.exclusive:
            given = [name for name in choice if name in self.names]
            if len(given) == 1 or (not given and any(name in self.broken for name in choice)):
                continue
            spot = self.names[given[1]].span if given else self.header
            message = f"`{given[1]}` stands beside `{given[0]}`" if given else f"`{self.schema.type}` has none of them"
            self.sink.report(
                codes.EXACTLY_ONE,
                spot,
                message,
                secondary=((self.names[given[0]].span, "the other one"),) if given else (),
                help=f"give exactly one of {listing(list(choice))}",
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
