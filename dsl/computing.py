"""Computing constant expressions: operators, `? :` and a small table of pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink, listing, nearest, replace
from itbc.dsl.source import Span
from itbc.dsl.syntax import (
    Binary,
    Boolean,
    Call,
    Conditional,
    Expression,
    Invalid,
    ListValue,
    Null,
    Number,
    ObjectItem,
    ObjectValue,
    Reference,
    String,
    Unary,
)

_LARGEST = 1e300


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the language. `takes` names the type of each argument; the last one repeats where `many`."""

    takes: tuple[str, ...]
    doc: str
    compute: Callable[..., Any]
    many: bool = False


def _contains(items: list[Any], item: Any) -> bool:
    return item in items


def _concat(*lists: list[Any]) -> list[Any]:
    return [item for items in lists for item in items]


FUNCTIONS: dict[str, Function] = {
    "abs": Function(("number",), "The number without its sign.", abs),
    "ceil": Function(("number",), "The next whole number that isn't smaller.", math.ceil),
    "concat": Function(("list",), "All items of the lists, one list after the other.", _concat, many=True),
    "contains": Function(("list", "any"), "Whether the list has the item.", _contains),
    "floor": Function(("number",), "The next whole number that isn't larger.", math.floor),
    "join": Function(("string", "list"), "The strings of the list with the separator between them.", str.join),
    "length": Function(("string or list",), "How many characters or items it has.", len),
    "lower": Function(("string",), "In small letters.", str.lower),
    "max": Function(("number",), "The largest of the numbers.", max, many=True),
    "min": Function(("number",), "The smallest of the numbers.", min, many=True),
    "replace": Function(
        ("string", "string", "string"), "The first string with the second replaced by the third.", str.replace
    ),
    "upper": Function(("string",), "In capital letters.", str.upper),
}


def fold(expression: Expression, sink: Sink) -> Expression:  # noqa: PLR0911 - one case a kind of expression
    """The value of an expression: operations and calls are computed, the rest stays. Mistakes become `Invalid`."""
    match expression:
        case ListValue(items, span):
            return ListValue(tuple(fold(item, sink) for item in items), span)
        case ObjectValue(items, span):
            return ObjectValue(tuple(ObjectItem(item.key, fold(item.value, sink)) for item in items), span)
        case Unary():
            return _unary(expression, sink)
        case Binary():
            return _binary(expression, sink)
        case Conditional():
            return _conditional(expression, sink)
        case Call():
            return _call(expression, sink)
        case _:
            return expression


def type_of(expression: Expression) -> str:  # noqa: PLR0911 - one case a kind of expression
    """What a value is, in words."""
    match expression:
        case String():
            return "a string"
        case Number():
            return "a number"
        case Boolean():
            return "a boolean"
        case Null():
            return "null"
        case ListValue():
            return "a list"
        case ObjectValue():
            return "an object"
        case Reference(parts):
            return "a bare word" if len(parts) == 1 else "a reference"
        case _:
            return "an operation"


def plain(expression: Expression) -> Any:
    """The Python value of a computed constant; references give their dotted text."""
    match expression:
        case String(value) | Number(value) | Boolean(value):
            return value
        case ListValue(items):
            return [plain(item) for item in items]
        case ObjectValue(items):
            return {item.key.text: plain(item.value) for item in items}
        case Reference():
            return expression.text
        case _:
            return None


def _literal(value: Any, span: Span, sink: Sink) -> Expression:
    if isinstance(value, bool):
        return Boolean(value, span)
    if isinstance(value, int | float):
        if not math.isfinite(value) or abs(value) > _LARGEST:
            return _fail(sink, span, "the result is too large", "compute with smaller numbers")
        return Number(
            int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value, span
        )
    if isinstance(value, str):
        return String(value, span)
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - what the functions' table makes
        return ListValue(tuple(_literal(item, span, sink) for item in items), span)
    return Null(span)


def _fail(sink: Sink, span: Span, message: str, remedy: str) -> Invalid:
    sink.report(codes.BAD_OPERATION, span, message, help=remedy)
    return Invalid(span)


def _unary(expression: Unary, sink: Sink) -> Expression:
    operand = fold(expression.operand, sink)
    match expression.operator, operand:
        case _, Invalid():
            return Invalid(expression.span)
        case "-", Number(value):
            return Number(-value, expression.span)
        case "!", Boolean(value):
            return Boolean(not value, expression.span)
        case _:
            wanted = "a number" if expression.operator == "-" else "a boolean"
            return _fail(sink, operand.span, f"this is {type_of(operand)}", f"`{expression.operator}` needs {wanted}")


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": math.fmod,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "&&": lambda a, b: a and b,
    "||": lambda a, b: a or b,
}


def _binary(expression: Binary, sink: Sink) -> Expression:
    left, right = fold(expression.left, sink), fold(expression.right, sink)
    operator, span = expression.operator, expression.span
    if isinstance(left, Invalid) or isinstance(right, Invalid):
        return Invalid(span)
    for side in (left, right):
        if isinstance(side, Reference):
            return _fail(sink, side.span, "names can't be computed with", "use numbers, strings, booleans and lists")
    if operator in ("==", "!="):
        same = type(left) is type(right) and plain(left) == plain(right)
        return Boolean(same == (operator == "=="), span)
    wanted: type[Boolean | Number] = Boolean if operator in ("&&", "||") else Number
    for side in (left, right):
        if not isinstance(side, wanted):
            words = "booleans" if wanted is Boolean else "numbers"
            return _fail(sink, side.span, f"this is {type_of(side)}", f"`{operator}` needs {words}")
    return _arithmetic(operator, plain(left), plain(right), expression, sink)


def _arithmetic(operator: str, left: Any, right: Any, expression: Binary, sink: Sink) -> Expression:
    if operator in ("/", "%") and right == 0:
        return _fail(sink, expression.right.span, "this is zero", "divide by something else")
    try:
        return _literal(_ARITHMETIC[operator](left, right), expression.span, sink)
    except OverflowError:
        return _fail(sink, expression.span, "the result is too large", "compute with smaller numbers")


def _conditional(expression: Conditional, sink: Sink) -> Expression:
    condition = fold(expression.condition, sink)
    then, otherwise = fold(expression.then, sink), fold(expression.otherwise, sink)
    if isinstance(condition, Invalid):
        return Invalid(expression.span)
    if not isinstance(condition, Boolean):
        return _fail(sink, condition.span, f"this is {type_of(condition)}", "before `?` stands a boolean")
    return then if condition.value else otherwise


def _call(expression: Call, sink: Sink) -> Expression:
    name = expression.function
    function = FUNCTIONS.get(name.text)
    arguments = [fold(argument, sink) for argument in expression.arguments]
    if function is None:
        near = nearest(name.text, list(FUNCTIONS))
        sink.report(
            codes.UNKNOWN_FUNCTION,
            name.span,
            f"there is no function `{name.text}`",
            help=f"did you mean `{near}`?" if near else f"the functions are {listing(list(FUNCTIONS))}",
            fix=replace(name.span, near) if near else None,
        )
        return Invalid(expression.span)
    if any(isinstance(argument, Invalid) for argument in arguments):
        return Invalid(expression.span)
    wrong = _arguments_wrong(function, arguments, expression.span)
    if wrong is not None:
        where, message = wrong
        usage = f"it is `{name.text}({', '.join(function.takes)}{', …' if function.many else ''})`"
        return _fail(sink, where, message, usage)
    try:
        return _literal(function.compute(*(plain(argument) for argument in arguments)), expression.span, sink)
    except (TypeError, ValueError, OverflowError):
        return _fail(sink, expression.span, "these arguments don't fit", function.doc)


def _arguments_wrong(function: Function, arguments: Sequence[Expression], span: Span) -> tuple[Span, str] | None:
    fewest = len(function.takes)
    if len(arguments) < fewest or (len(arguments) > fewest and not function.many):
        return span, f"{len(arguments)} arguments are given, {fewest}{' or more' if function.many else ''} needed"
    for index, argument in enumerate(arguments):
        wanted = function.takes[min(index, fewest - 1)]
        given = type_of(argument).removeprefix("a ").removeprefix("an ")
        if wanted != "any" and given not in wanted.split(" or "):
            return argument.span, f"this is {type_of(argument)}, not a {wanted}"
    return None
