"""How a syntax error is described: what stands there, what could stand there, what to do."""

from __future__ import annotations

from dataclasses import dataclass

from lark import Token

from itbc.dsl import codes
from itbc.dsl.diagnostics import Code, Edit, Fix
from itbc.dsl.lexing import OPENERS, end_of, start_of
from itbc.dsl.recovery import Resume
from itbc.dsl.source import SourceFile, Span

_WORDS = {
    "STRING": "a string",
    "IDENT": "a name",
    "EQUAL": "`=`",
    "LBRACE": "`{`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "RBRACE": "`}`",
    "RBRACKET": "`]`",
    "RPAREN": "`)`",
    "NL": "the end of the line",
}
"""What can be expected, in words and in the order they are named."""

_VALUE = frozenset({"STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LBRACKET", "LPAREN"})
_BEGINS_VALUE = _VALUE | {"IDENT", "LBRACE"}
_SMART_QUOTES = frozenset("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb`\u00b4'")
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Mistake:
    """A syntax error, ready to be reported."""

    code: Code
    span: Span
    message: str
    secondary: tuple[tuple[Span, str], ...] = ()
    help: str = ""
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A token that the parser refused and what is known about the place.

    `item` is the first token of the item it is in, `brackets` are those open there. `stray` says that it is a brace
    which closes nothing, `one_line` that it is in a block on one line.
    """

    found: Token
    expected: frozenset[str]
    item: Token | None
    brackets: tuple[Token, ...]
    stray: bool
    one_line: bool


def describe(source: SourceFile, refusal: Refusal, resume: Resume) -> Mistake:
    """Say what is wrong with a refused token."""
    found = refusal.found
    span = Span(source, start_of(found), max(end_of(found), start_of(found)))
    special = _special(source, found, span)
    if special is not None:
        return special
    if refusal.stray:
        fix = Fix("remove it", (Edit(span, ""),))
        return Mistake(codes.STRAY_BRACE, span, "no block is open here", help="remove it", fix=fix)
    if refusal.one_line and found.type != "RBRACE" and (found.type == "NL" or "RBRACE" in refusal.expected):
        return Mistake(
            codes.ONE_LINE_BLOCK,
            span,
            "the block has to end here",
            help="put `{` at the end of the first line, each attribute on a line of its own, and `}` on the last",
        )
    if resume.unclosed is not None and refusal.brackets and resume.unclosed is refusal.brackets[-1]:
        bracket = Span(source, start_of(resume.unclosed), end_of(resume.unclosed))
        return Mistake(
            codes.UNCLOSED_BRACKET,
            bracket,
            f"this `{bracket.text}` has no partner",
            secondary=((span, f"{_found(found)} can't stand inside it"),),
            help=f"close it with {_WORDS[OPENERS[resume.unclosed.type]]}",
        )
    return _unexpected(refusal, span)


def _unexpected(refusal: Refusal, span: Span) -> Mistake:
    found, expected, item = refusal.found, refusal.expected, refusal.item
    message = f"expected {_expectation(expected)}, found {_found(found)}"
    remedy, fix = "", None
    if found.type == "COMMA" and "NL" in expected:
        remedy = "attributes of a block end with their line, without a comma"
        fix = Fix("remove the comma", (Edit(span, ""),))
    elif found.type == "COLON" and "EQUAL" in expected:
        remedy = "attributes are written `name = value`"
        fix = Fix("replace `:` by ` =`", (Edit(span, " ="),))
    elif found.type in _BEGINS_VALUE and "NL" in expected:
        remedy = "put each attribute and each block on a line of its own"
    elif item is not None and "EQUAL" in expected:
        remedy = f"an attribute is `{item} = value`, a block `{item} {{ … }}`"
    elif expected >= _VALUE:
        remedy = "write the value"
    elif item is None:
        remedy = 'a line of a block is an attribute `name = value` or begins a block: `type "label" {`'
    else:
        remedy = f"write {_expectation(expected)} here, or remove {_found(found)}"
    return Mistake(codes.UNEXPECTED_TOKEN, span, message, help=remedy, fix=fix)


def _special(  # noqa: PLR0911 - one case a mistake
    source: SourceFile, found: Token, span: Span
) -> Mistake | None:
    match found.type:
        case "WRONG_UNTERMINATED":
            remedy = 'close it with `"`; a line break inside a string is written `\\n`'
            return Mistake(codes.UNTERMINATED_STRING, span, 'this string has no closing `"`', help=remedy)
        case "WRONG_COMMENT":
            opening = Span(source, span.start, span.start + 2)
            message = "this comment goes on to the end of the file"
            return Mistake(codes.UNCLOSED_COMMENT, opening, message, help="close it with `*/`")
        case "WRONG_HEREDOC":
            remedy = "write the text as one quoted string, with `\\n` for line breaks"
            return Mistake(codes.HEREDOC, span, "a heredoc begins here", help=remedy)
        case "WRONG_SINGLE_QUOTED":
            return single_quoted(found, span)
        case "WRONG_NUMBER":
            remedy = "numbers are written like `0`, `12`, `0.5` or `1.0e6`, without leading zeros"
            return Mistake(codes.NUMBER_RANGE, span, "not a number", help=remedy)
        case "WRONG_CHARACTER":
            return _character(str(found), span)
        case _:
            return None


def single_quoted(token: Token, span: Span) -> Mistake:
    """A string in single quotes."""
    inner = token[1:-1].replace("\\", "\\\\").replace('"', '\\"')
    fix = Fix("use double quotes", (Edit(span, f'"{inner}"'),))
    return Mistake(codes.SINGLE_QUOTES, span, "this is quoted with `'`", help=f'write `"{inner}"`', fix=fix)


def _character(char: str, span: Span) -> Mistake:
    shown = f"`{char}`" if char.isprintable() else f"U+{ord(char):04X}"
    message, fix = f"{shown} can't stand outside a string", None
    remedy = "names have letters (a-z, A-Z), digits, `_` and `-`; anything else goes into a quoted string"
    if char == ";":
        message, remedy = f"{shown} ends nothing here", "end the line instead"
        fix = Fix("remove it", (Edit(span, ""),))
    elif char in _SMART_QUOTES:
        message, remedy = f"{shown} is not a quote of this language", 'quote strings with `"`'
    return Mistake(codes.UNEXPECTED_CHARACTER, span, message, help=remedy, fix=fix)


def _found(token: Token) -> str:
    if token.type == "NL":
        return "the end of the line"
    if token.type == "$END":
        return "the end of the file"
    text = str(token)
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}`"


def _expectation(expected: frozenset[str]) -> str:
    """The expected tokens in words: values, labels and items are named as such."""
    words: list[str] = []
    if expected >= _VALUE:
        words.append("a value")
        expected -= _BEGINS_VALUE
    if "STRING" in expected and "LBRACE" in expected:
        words.append("a label in quotes")
        expected -= {"STRING", "IDENT"}
    elif "IDENT" in expected and "NL" in expected:
        words.append("an attribute or a block")
        expected -= {"IDENT", "NL"}
    words += [word for kind, word in _WORDS.items() if kind in expected]
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
