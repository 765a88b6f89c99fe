"""From Lark's parse tree to the syntax tree, bottom-up and without recursion."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from lark import Token, Transformer_NonRecursive, Tree, v_args
from lark.tree import Meta

from itbc.dsl import codes
from itbc.dsl.diagnostics import Code, Edit, Fix, Sink, replace
from itbc.dsl.lexing import end_of, start_of
from itbc.dsl.mistakes import single_quoted
from itbc.dsl.source import SourceFile, Span
from itbc.dsl.syntax import (
    Attribute,
    Binary,
    Block,
    Body,
    Boolean,
    Call,
    Conditional,
    Expression,
    Invalid,
    Label,
    ListValue,
    Name,
    Null,
    Number,
    ObjectItem,
    ObjectValue,
    Reference,
    String,
    Unary,
)

MAX_EXPRESSION_DEPTH = 100
"""How many operations of a value may hang on each other."""

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPES_HELP = (
    'the escapes are `\\n`, `\\r`, `\\t`, `\\"`, `\\\\`, `\\uNNNN` and `\\UNNNNNNNN`; a backslash is written twice'
)
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|\$\$\{|%%\{", re.DOTALL)
_TEMPLATE = re.compile(r"([$%])\1*\{[^}\n]*\}?")
_LITERAL = re.compile(r"(?:\$\$|%%)\{[^{}\"\\$%]*\}")
_EXPONENT = re.compile(r"[0-9]+[eE][0-9]+")
_UNICODE_ESCAPES = {6, 10}
_HIGHEST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_MOST_DIGITS = 300


@dataclass(frozen=True, slots=True)
class _Built:
    """A value and how deep it is; `lost` where something in it was too deep."""

    value: Expression
    depth: int
    lost: bool = False


Arguments: TypeAlias = list[_Built]
Children: TypeAlias = list[Any]
"""What Lark hands to a rule: tokens, and what the rules below have made."""


def build(tree: Tree[Token], source: SourceFile, sink: Sink) -> tuple[Body, bool]:
    """The syntax tree of a parsed file, and whether more mistakes were found in it."""
    builder = _Builder(source, sink)
    body: Body = builder.transform(tree)
    return body, builder.damaged


class _Builder(Transformer_NonRecursive[Token, Any]):
    def __init__(self, source: SourceFile, sink: Sink) -> None:
        super().__init__()
        self.source = source
        self.sink = sink
        self.damaged = False

    # -- blocks --------------------------------------------------------------------------------------------------

    def start(self, children: Children) -> Body:
        body: Body = children[0]
        return Body(body.items, Span(self.source, 0, len(self.source.text)), body.damaged)

    @v_args(meta=True)
    def body(self, meta: Meta, children: Children) -> Body:
        items = tuple(child for child in children if isinstance(child, Attribute | Block))
        damaged = any(isinstance(child, Token) and child.type == "MADE_DAMAGE" for child in children)
        return Body(items, self._meta(meta), damaged)

    @v_args(meta=True)
    def attribute(self, meta: Meta, children: Children) -> Attribute:
        name, _, value = children
        return Attribute(self._name(name), value.value, self._meta(meta))

    @v_args(meta=True)
    def block(self, meta: Meta, children: Children) -> Block:
        kind = self._name(children[0])
        labels = tuple(child for child in children if isinstance(child, Label))
        body: Body = next(child for child in children if isinstance(child, Body))
        opener, closer = children[-3], children[-1]
        inside = Span(self.source, end_of(opener), max(end_of(opener), start_of(closer)))
        header = Span(self.source, kind.span.start, labels[-1].span.end if labels else kind.span.end)
        return Block(kind, labels, Body(body.items, inside, body.damaged), header, self._meta(meta))

    def label(self, children: Children) -> Label:
        token: Token = children[0]
        span = self._span(token)
        if token.type == "MADE_LABEL":
            return Label("", span, valid=False)
        if token.type == "IDENT":
            self._report(
                codes.UNQUOTED_LABEL,
                span,
                "labels are strings",
                fix=Fix("quote it", (Edit(span, f'"{token}"'),)),
                help=f'write `"{token}"`',
            )
            return Label(str(token), span)
        if token.type == "WRONG_TEMPLATE" or "${" in token or "%{" in token:
            self._report(codes.TEMPLATE, span, "labels are plain names", help="write the name itself")
            return Label("", span, valid=False)
        if "\\" in token:
            self._report(codes.ESCAPE_IN_LABEL, span, "this label has a `\\`", help="use a label without `\\`")
            return Label("", span, valid=False)
        return Label(self._text(token), span)

    @v_args(meta=True)
    def inside_nothing(self, meta: Meta, children: Children) -> Body:
        del children
        return Body((), self._meta(meta))

    @v_args(meta=True)
    def inside_one(self, meta: Meta, children: Children) -> Body:
        return Body((children[0],), self._meta(meta))

    def inside_lines(self, children: Children) -> Body:
        body: Body = children[1]
        return body

    # -- values --------------------------------------------------------------------------------------------------

    def string(self, children: Children) -> _Built:
        return _Built(String(self._text(children[0]), self._span(children[0])), 1)

    def template(self, children: Children) -> _Built:
        token: Token = children[0]
        span = self._span(token)
        for found in _TEMPLATE.finditer(token):
            if _LITERAL.fullmatch(found.group()):
                continue
            mark = found[1]
            place = Span(self.source, span.start + found.start(), span.start + found.end())
            escape = f"\\u{ord(mark):04x}{{"
            written = escape + found.group().lstrip(mark)[1:]
            self._report(
                codes.TEMPLATE,
                place,
                "nothing is filled in here",
                help=f"write the value itself; the characters `{mark}{{` are written `{mark}{mark}{{…}}` or `{escape}`",
                fix=Fix(f"write `{escape}`", (Edit(place, written),)),
            )
            break
        return _Built(Invalid(span), 1)

    def single_quoted(self, children: Children) -> _Built:
        span = self._span(children[0])
        mistake = single_quoted(children[0], span)
        self._report(mistake.code, span, mistake.message, help=mistake.help, fix=mistake.fix)
        return _Built(Invalid(span), 1)

    def for_word(self, children: Children) -> _Built:
        span = self._span(children[0])
        remedy = "there are no `for` expressions; write the values themselves"
        self._report(codes.UNEXPECTED_TOKEN, span, "`for` means nothing here", help=remedy)
        return _Built(Invalid(span), 1)

    def number(self, children: Children) -> _Built:
        token: Token = children[0]
        span = self._span(token)
        whole = token.isdigit()
        value = float(token) if not whole or len(token) > _MOST_DIGITS else int(token)
        if not math.isfinite(value) or len(token) > _MOST_DIGITS:
            self._report(
                codes.NUMBER_RANGE, span, "this number is too large", help="the largest number is about 1.8e308"
            )
            return _Built(Invalid(span), 1)
        return _Built(Number(value, span), 1)

    def bare_quantity(self, children: Children) -> _Built:
        token: Token = children[0]
        span = self._span(token)
        if _EXPONENT.fullmatch(token):
            remedy = "before an exponent stands a fraction: `1.0e6`; or write the number in full"
            self._report(codes.NUMBER_RANGE, span, "not a number of this language", help=remedy)
            return _Built(Invalid(span), 1)
        self._report(
            codes.UNQUOTED_QUANTITY,
            span,
            "durations and quantities are strings",
            fix=replace(span, f'"{token}"'),
            help=f'write `"{token}"`',
        )
        return _Built(Invalid(span), 1)

    def boolean(self, children: Children) -> _Built:
        return _Built(Boolean(children[0].type == "TRUE", self._span(children[0])), 1)

    def null(self, children: Children) -> _Built:
        return _Built(Null(self._span(children[0])), 1)

    def invalid(self, children: Children) -> _Built:
        return _Built(Invalid(self._span(children[0])), 1)

    @v_args(meta=True)
    def reference(self, meta: Meta, children: Children) -> _Built:
        parts: list[Name] = []
        for token in children:
            if token.type == "IDENT":
                parts.append(self._name(token))
            elif token.type == "STRING":
                parts.append(Name(self._text(token), self._span(token)))
        return _Built(Reference(tuple(parts), self._meta(meta)), 1)

    @v_args(meta=True)
    def call(self, meta: Meta, children: Children) -> _Built:
        arguments = self._arguments(children)
        value = Call(self._name(children[0]), tuple(item.value for item in arguments), self._meta(meta))
        return self._deepen(value, *arguments)

    def parentheses(self, children: Children) -> _Built:
        inner: _Built = children[1]
        return inner

    @v_args(meta=True)
    def list(self, meta: Meta, children: Children) -> _Built:
        items = self._arguments(children)
        return self._deepen(ListValue(tuple(item.value for item in items), self._meta(meta)), *items)

    @v_args(meta=True)
    def object(self, meta: Meta, children: Children) -> _Built:
        pairs = [child for child in children if isinstance(child, tuple)]
        items: list[ObjectItem] = []
        seen: dict[str, Span] = {}
        for key, value in pairs:
            if key.text in seen:
                self._report(
                    codes.DUPLICATE_KEY,
                    key.span,
                    f"`{key.text}` again",
                    secondary=((seen[key.text], "first given here"),),
                    help="keep one of the two",
                )
                continue
            seen[key.text] = key.span
            items.append(ObjectItem(key, value.value))
        return self._deepen(ObjectValue(tuple(items), self._meta(meta)), *(value for _, value in pairs))

    def object_item(self, children: Children) -> tuple[Name, _Built]:
        key, joint, value = children
        if joint.type == "COLON":
            span = self._span(joint)
            self._report(
                codes.COLON_IN_OBJECT,
                span,
                "write `=` here",
                fix=Fix("replace `:` by ` =`", (Edit(span, " ="),)),
                help="an object is `{ key = value }`",
            )
        if key.type == "FOR":
            remedy = "there are no `for` expressions; a key that is called so is quoted"
            self._report(codes.UNEXPECTED_TOKEN, self._span(key), "`for` can't be a key", help=remedy)
        name = self._name(key) if key.type in ("IDENT", "FOR") else Name(self._text(key), self._span(key))
        return name, value

    def arguments(self, children: Children) -> Arguments:
        return [child for child in children if isinstance(child, _Built)]

    @v_args(meta=True)
    def unary(self, meta: Meta, children: Children) -> _Built:
        operator, operand = children
        return self._deepen(Unary(str(operator), operand.value, self._meta(meta)), operand)

    @v_args(meta=True)
    def binary(self, meta: Meta, children: Children) -> _Built:
        left, operator, right = children
        return self._deepen(Binary(str(operator), left.value, right.value, self._meta(meta)), left, right)

    @v_args(meta=True)
    def conditional(self, meta: Meta, children: Children) -> _Built:
        condition, _, then, _, otherwise = children
        value = Conditional(condition.value, then.value, otherwise.value, self._meta(meta))
        return self._deepen(value, condition, then, otherwise)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _arguments(self, children: Children) -> Arguments:
        for child in children:
            if isinstance(child, list):
                return child
        return []

    def _deepen(self, value: Expression, *parts: _Built) -> _Built:
        if any(part.lost for part in parts):
            return _Built(Invalid(value.span), 1, lost=True)
        depth = 1 + max((part.depth for part in parts), default=0)
        if depth <= MAX_EXPRESSION_DEPTH:
            return _Built(value, depth)
        self._report(
            codes.TOO_DEEP,
            value.span,
            f"more than {MAX_EXPRESSION_DEPTH} operations hang on each other here",
            help="write the result itself",
        )
        return _Built(Invalid(value.span), 1, lost=True)

    def _name(self, token: Token) -> Name:
        return Name(str(token), self._span(token))

    def _text(self, token: Token) -> str:
        """What a string stands for: escapes replaced, quotes gone."""
        start = start_of(token)
        for offset, char in enumerate(token):
            if (ord(char) < ord(" ") and char != "\t") or char in "\x7f\u2028\u2029\ufeff":
                place = Span(self.source, start + offset, start + offset + 1)
                self._report(
                    codes.CONTROL_CHARACTER,
                    place,
                    f"U+{ord(char):04X} stands here",
                    help=f"write `\\u{ord(char):04x}`",
                    fix=Fix("write it as an escape", (Edit(place, f"\\u{ord(char):04x}"),)),
                )

        def substitute(match: re.Match[str]) -> str:
            found = match.group()
            if found in ("$${", "%%{"):
                return found[1:]
            if found[1] in _ESCAPES:
                return _ESCAPES[found[1]]
            if len(found) in _UNICODE_ESCAPES:
                point = int(found[2:], 16)  # noqa: FURB166 - `\u` isn't a prefix that int knows
                if point <= _HIGHEST_CODE_POINT and point not in _SURROGATES:
                    return chr(point)
            place = Span(self.source, start + 1 + match.start(), start + 1 + match.end())
            self._report(
                codes.BAD_ESCAPE,
                place,
                f"`{found}` stands for nothing",
                help=_ESCAPES_HELP,
                fix=Fix("write a backslash", (Edit(Span(self.source, place.start, place.start + 1), "\\\\"),)),
            )
            return found

        return _ESCAPE.sub(substitute, token[1:-1])

    def _report(self, code: Code, span: Span, message: str, **more: Any) -> None:
        self.damaged = True
        self.sink.report(code, span, message, **more)

    def _span(self, token: Token) -> Span:
        return Span(self.source, start_of(token), end_of(token))

    def _meta(self, meta: Meta) -> Span:
        if meta.empty:
            return Span(self.source, 0, 0)
        return Span(self.source, meta.start_pos, meta.end_pos)
