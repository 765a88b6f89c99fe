"""From an expression to a typed value, as the schema says, or to a diagnostic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from itbc.dsl import codes
from itbc.dsl.computing import fold, plain, type_of
from itbc.dsl.describing import describe
from itbc.dsl.diagnostics import Code, Sink, nearest, replace
from itbc.dsl.entries import Value
from itbc.dsl.promql import problem as query_problem
from itbc.dsl.schema.types import (
    Anything,
    BooleanType,
    Duration,
    Either,
    FaultName,
    Keyword,
    ListOf,
    MapOf,
    NumberType,
    Quantity,
    ReferenceType,
    Text,
    ValueType,
)
from itbc.dsl.source import Span
from itbc.dsl.syntax import (
    Boolean,
    Expression,
    Invalid,
    ListValue,
    Name,
    Null,
    Number,
    ObjectValue,
    Reference,
    String,
)
from itbc.dsl.values import Wrong, duration, quantity, show_duration, show_quantity

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""A Kubernetes name (DNS label)."""

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""What can stand after a dot in a reference."""

LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
"""A label name of Prometheus."""

_DATE = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")
_MODE = re.compile(r"[0-7]{3,4}")


def convert(expression: Expression, kind: ValueType, sink: Sink) -> Value | None:
    """The typed value, or None after the mistake has been reported."""
    folded = fold(expression, sink)
    if isinstance(folded, Invalid):
        return None
    return _typed(folded, kind, sink)


def _typed(  # noqa: C901, PLR0911, PLR0912 - one case a type
    value: Expression, kind: ValueType, sink: Sink
) -> Value | None:
    span = value.span
    match kind, value:
        case _, Invalid():
            return None
        case Text(), String(text):
            return Value(text, span) if _text(text, kind, span, sink) else None
        case NumberType(), Number(number):
            return Value(number, span) if _number(number, kind, span, sink) else None
        case BooleanType(), Boolean(truth):
            return Value(truth, span)
        case Duration(), String(text):
            return _duration(text, kind, span, sink)
        case Quantity(), String(text):
            return _quantity(text, kind, span, sink)
        case Keyword(), Reference() | String():
            return _keyword(value, kind, sink)
        case ReferenceType(), Reference():
            return _reference(value, kind, sink)
        case FaultName(), Reference():
            return Value(value, span)
        case ListOf(), ListValue():
            return _list(value, kind, sink)
        case MapOf(), ObjectValue():
            return _map(value, kind, sink)
        case Either(types), _:
            return _typed(value, _closest(types, value), sink)
        case Anything(), _ if not isinstance(value, Null):
            return Value(plain(value), span)
        case _:
            _mismatch(value, kind, sink)
            return None


def _closest(types: Sequence[ValueType], value: Expression) -> ValueType:
    """The first type that a value could be of, going by its form."""
    for kind in types:
        probe = Sink()
        if _typed(value, kind, probe) is not None or not any(d.code is codes.WRONG_TYPE for d in probe.diagnostics):
            return kind
    return types[0]


def _mismatch(value: Expression, kind: ValueType, sink: Sink) -> None:
    wanted = describe(kind)
    remedy, fix = f"write {wanted}", None
    text = value.span.text
    match kind, value:
        case ((Text() | Duration() | Quantity()), (Reference() | Number() | Boolean())):
            if isinstance(kind, Text):
                remedy = f'write `"{text}"`'
                fix = replace(value.span, f'"{text}"')
        case NumberType(), String(content) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", content):
            remedy, fix = f"write `{content}` without quotes", replace(value.span, content)
        case BooleanType(), String(content) if content in ("true", "false"):
            remedy, fix = f"write `{content}` without quotes", replace(value.span, content)
        case ReferenceType(), String(content) if re.fullmatch(r"[A-Za-z_][\w.-]*", content):
            remedy, fix = f"write `{content}` without quotes", replace(value.span, content)
        case FaultName(), String(content):
            remedy, fix = f"write `{content}` without quotes", replace(value.span, content)
        case ListOf(), _:
            remedy, fix = f"write `[{text}]`", replace(value.span, f"[{text}]")
        case _:
            pass
    sink.report(codes.WRONG_TYPE, value.span, f"this is {type_of(value)}; needed is {wanted}", help=remedy, fix=fix)


def _text(text: str, kind: Text, span: Span, sink: Sink) -> bool:
    if not text.strip() and kind.kind != "text":
        sink.report(codes.BAD_TEXT, span, "this is empty", help=f"write {describe(kind)}")
        return False
    if kind.kind == "query":
        wrong = query_problem(text)
        if wrong is not None and not _reported(span, sink):
            sink.report(codes.BAD_QUERY, _part(wrong, text, span), wrong.message, help=wrong.help)
        return wrong is None
    if kind.kind == "path" and (text.startswith(("/", "~")) or "\\" in text or "\0" in text):
        sink.report(
            codes.BAD_PATH,
            span,
            "this isn't a relative path",
            help="paths are relative to the file they are written in, with `/` between folders",
        )
        return False
    wants = {
        "name": (
            NAME,
            "a name has small letters, digits and `-`, at most 63 of them, and begins and ends with a letter or digit",
        ),
        "date": (_DATE, 'a date is written "2026-11-01"'),
        "word": (re.compile(r"\S+"), "no spaces can stand here"),
        "mode": (_MODE, 'permissions are three or four octal digits: "0644"'),
    }
    if kind.kind in wants:
        pattern, remedy = wants[kind.kind]
        if not pattern.fullmatch(text):
            sink.report(codes.BAD_TEXT, span, f"this isn't {describe(kind)}", help=remedy)
            return False
    return True


def _number(number: float, kind: NumberType, span: Span, sink: Sink) -> bool:
    if kind.integer and not isinstance(number, int):
        sink.report(
            codes.WRONG_TYPE, span, "this has a fraction; needed is a whole number", help=f"write {describe(kind)}"
        )
        return False
    too_small = kind.minimum is not None and number < kind.minimum
    too_large = kind.maximum is not None and number > kind.maximum
    if too_small or too_large:
        sink.report(
            codes.OUT_OF_RANGE,
            span,
            f"{number} is too {'small' if too_small else 'large'}",
            help=f"write {describe(kind)}",
        )
        return False
    return True


def _duration(text: str, kind: Duration, span: Span, sink: Sink) -> Value | None:
    found = duration(text)
    if isinstance(found, Wrong):
        _wrong_unit(found, codes.BAD_DURATION, span, sink)
    elif found < kind.minimum:
        sink.report(codes.OUT_OF_RANGE, span, "too short", help=f"write at least {show_duration(kind.minimum)}")
    elif found > kind.maximum:
        sink.report(codes.OUT_OF_RANGE, span, "too long", help=f"write at most {show_duration(kind.maximum)}")
    else:
        return Value(found, span)
    return None


def _quantity(text: str, kind: Quantity, span: Span, sink: Sink) -> Value | None:
    found = quantity(text, kind.of)
    if isinstance(found, Wrong):
        _wrong_unit(found, codes.BAD_QUANTITY, span, sink)
    elif found < kind.minimum:
        sink.report(
            codes.OUT_OF_RANGE, span, "too small", help=f"write at least {show_quantity(kind.minimum, kind.of)}"
        )
    else:
        return Value(found, span)
    return None


def _reported(span: Span, sink: Sink) -> bool:
    """Whether something within a string has been reported already, of which what else is wrong may be a consequence."""
    found = (each.span for each in sink.diagnostics)
    return any(each.source is span.source and span.start <= each.start < span.end for each in found)


def _part(wrong: Wrong, text: str, span: Span) -> Span:
    """The part of a string that is wrong; all of it where it has escapes, or nothing is in it."""
    if wrong.start < wrong.end and span.text == f'"{text}"':
        return Span(span.source, span.start + 1 + wrong.start, span.start + 1 + wrong.end)
    return span


def _wrong_unit(wrong: Wrong, code: Code, span: Span, sink: Sink) -> None:
    """Report a measure at the part of it that is wrong."""
    inside = span.text[1:-1]
    plainly_written = "\\" not in inside and "{" not in inside and span.text.startswith('"')
    place = Span(span.source, span.start + 1 + wrong.start, span.start + 1 + wrong.end)
    better = f'write `"{wrong.better}"`; ' if wrong.better else ""
    sink.report(
        code,
        place if plainly_written and wrong.end else span,
        wrong.message,
        help=better + wrong.help,
        fix=replace(span, f'"{wrong.better}"') if wrong.better else None,
    )


def _keyword(value: Reference | String, kind: Keyword, sink: Sink) -> Value | None:
    word = value.text if isinstance(value, Reference) else value.value
    if isinstance(value, Reference) and word in kind.words:
        return Value(word, value.span)
    if isinstance(value, String) and word in kind.words:
        sink.report(
            codes.WRONG_TYPE,
            value.span,
            "this is a string; needed is the bare word",
            help=f"write `{word}` without quotes",
            fix=replace(value.span, word),
        )
        return None
    near = nearest(word, list(kind.words))
    meanings = "; ".join(f"`{name}`: {meaning}" if meaning else f"`{name}`" for name, meaning in kind.words.items())
    sink.report(
        codes.UNKNOWN_KEYWORD,
        value.span,
        f"`{word}` isn't one of the words that can stand here",
        help=(f"did you mean `{near}`? " if near else "") + f"the words are {meanings}",
        fix=replace(value.span, near) if near else None,
    )
    return None


def matches(reference: Reference, form: str) -> bool:
    """Whether a reference has the parts of a form: as many, and the same words where the form has small letters."""
    wanted = form.split(".")
    if len(wanted) != len(reference.parts):
        return False
    return all(want.isupper() or want == part.text for want, part in zip(wanted, reference.parts, strict=True))


def _reference(value: Reference, kind: ReferenceType, sink: Sink) -> Value | None:
    if any(matches(value, form) for form in kind.forms):
        return Value(value, value.span)
    forms = " or ".join(f"`{form}`" for form in kind.forms)
    sink.report(codes.WRONG_TYPE, value.span, "this reference is of another form", help=f"write it as {forms}")
    return None


def _list(value: ListValue, kind: ListOf, sink: Sink) -> Value | None:
    items: list[Value] = []
    seen: dict[Any, Span] = {}
    complete = True
    for item in value.items:
        typed = _typed(item, kind.item, sink)
        if typed is None:
            complete = False
            continue
        key = typed.data.text if isinstance(typed.data, Reference) else typed.data
        if kind.unique and isinstance(key, str | int | float):
            if key in seen:
                sink.report(
                    codes.REPEATED_ITEM,
                    item.span,
                    "this is already in the list",
                    secondary=((seen[key], "first here"),),
                    help="leave it out",
                )
                continue
            seen[key] = item.span
        items.append(typed)
    if complete and len(items) < kind.minimum:
        sink.report(codes.OUT_OF_RANGE, value.span, "this list is too short", help=f"at least {kind.minimum} is needed")
        return None
    return Value(tuple(items), value.span, complete)


def _map(value: ObjectValue, kind: MapOf, sink: Sink) -> Value | None:
    pairs: list[tuple[Name, Value]] = []
    complete = True
    for item in value.items:
        if kind.key == "label" and not LABEL_NAME.fullmatch(item.key.text):
            sink.report(
                codes.BAD_TEXT,
                item.key.span,
                "this can't be the name of a label",
                help="label names have letters, digits and `_`, and don't begin with a digit",
            )
            complete = False
            continue
        typed = _typed(item.value, kind.value, sink)
        if typed is None:
            complete = False
        else:
            pairs.append((item.key, typed))
    return Value(tuple(pairs), value.span, complete)
