"""Panic-mode recovery: where reading goes on after a syntax error, and how the error is described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lark import Token

from itbc.dsl import codes
from itbc.dsl.diagnostics import Code, Edit, Fix
from itbc.dsl.lexing import CLOSERS, OPENERS, end_of, start_of, tokens
from itbc.dsl.source import SourceFile, Span

_WORDS = {
    "IDENT": "a name",
    "NL": "the end of the line",
    "EQUAL": "`=`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LBRACKET": "`[`",
    "RBRACKET": "`]`",
    "LPAREN": "`(`",
    "RPAREN": "`)`",
    "DOT": "`.`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "STRING": "a string",
    "NUMBER": "a number",
    "QUESTION": "`?`",
    "$END": "the end of the file",
}
_VALUE = frozenset({"STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LBRACKET", "LPAREN"})
_OPERATORS = frozenset(
    {
        "OR",
        "AND",
        "SAME",
        "DIFFERENT",
        "LESS",
        "AT_MOST",
        "MORE",
        "AT_LEAST",
        "PLUS",
        "MINUS",
        "STAR",
        "SLASH",
        "PERCENT",
        "BANG",
    }
)
_SMART_QUOTES = frozenset("“”„«»‘’`´")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A syntax error, ready to be reported."""

    code: Code
    span: Span
    message: str
    secondary: tuple[tuple[Span, str], ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    fix: Fix | None = None

    @classmethod
    def at(
        cls,
        code: Code,
        span: Span,
        message: str,
        *,
        help: str = "",  # noqa: A002 - the word the output uses
        secondary: tuple[tuple[Span, str], ...] = (),
        drop: bool = False,
        fix: Fix | None = None,
    ) -> Mistake:
        """A mistake at a place; `drop` adds the fix that removes the text there."""
        return cls(code, span, message, secondary, (), help, Fix("remove it", (Edit(span, ""),)) if drop else fix)


@dataclass(frozen=True, slots=True)
class Resume:
    """Where reading goes on.

    `opens` is the brace of a block whose header is broken but whose inside can be read; `unclosed` is a bracket
    of the broken item that was given up.
    """

    position: int
    opens: Token | None = None
    unclosed: Token | None = None


def resume_after(
    text: str, found: Token, item: Token | None, open_brackets: Sequence[Token], at_file_level: bool
) -> Resume:
    """Find the next line of the same block after the token `found`, which the parser refused.

    Brackets that the broken item opened are skipped as a whole, unless a line looks like the next item of the block.
    """
    if found.type == "$END":
        return Resume(len(text), unclosed=open_brackets[-1] if open_brackets else None)
    if found.type == "RBRACE" and item is None and at_file_level:
        return Resume(end_of(found))
    stack = list(open_brackets)
    column = _column(text, item) if item is not None else 0
    line = text.rfind("\n", 0, start_of(found)) + 1
    if stack and item is not None and line > start_of(stack[-1]) and _looks_like_item(text, line, column, stack):
        return Resume(line, unclosed=stack[-1])
    stream = tokens(text, start_of(found))
    last: Token | None = None
    for token in stream:
        if token.type in OPENERS:
            stack.append(token)
        elif token.type in CLOSERS:
            if token.type == "RBRACE" and not any(opener.type == "LBRACE" for opener in stack):
                return Resume(start_of(token), unclosed=stack[-1] if stack else None)
            _close(stack, token)
        elif token.type == "WRONG_UNTERMINATED" and token.rstrip().endswith("{") and item is not None:
            brace = start_of(token) + len(token.rstrip()) - 1
            if not stack and _is_header(text, item):
                return Resume(brace + 1, Token("LBRACE", "{", brace, end_pos=brace + 1))
        elif token.type == "NL":
            header_brace = last is not None and last.type == "LBRACE" and stack and stack[-1] is last
            if header_brace and len(stack) == 1 and item is not None and _is_header(text, item):
                return Resume(start_of(token), last)
            if not stack:
                return Resume(end_of(token))
            if _looks_like_item(text, end_of(token), column, stack):
                return Resume(end_of(token), unclosed=stack[-1])
        if token.type not in ("COMMENT", "NL"):
            last = token
    return Resume(len(text), unclosed=stack[-1] if stack else None)


def _close(stack: list[Token], closer: Token) -> None:
    """Take the partner of a closing bracket off the stack, with unclosed brackets inside it."""
    wanted = CLOSERS[closer.type]
    for index in range(len(stack) - 1, -1, -1):
        if stack[index].type == wanted:
            del stack[index:]
            return


def _column(text: str, token: Token) -> int:
    return start_of(token) - (text.rfind("\n", 0, start_of(token)) + 1)


def _is_header(text: str, item: Token) -> bool:
    """Whether a broken item is a block's header rather than an attribute: there is no `=` after its first word."""
    stream = tokens(text, start_of(item))
    next(stream, None)
    following = next(stream, None)
    return following is None or following.type != "EQUAL"


def _looks_like_item(text: str, position: int, column: int, stack: Sequence[Token]) -> bool:
    """Whether the line at `position` begins an item of the block, though brackets before it are still open."""
    stream = tokens(text, position)
    first = next(stream, None)
    while first is not None and first.type in ("COMMENT", "NL"):
        first = next(stream, None)
    if first is None or first.type in CLOSERS:
        return False
    if _column(text, first) <= column:
        return True
    if first.type != "IDENT":
        return False
    second = next(stream, None)
    if second is None:
        return False
    if second.type == "EQUAL":
        return stack[-1].type != "LBRACE"
    while second is not None and second.type == "STRING":
        second = next(stream, None)
    return second is not None and second.type == "LBRACE"


def describe(
    source: SourceFile,
    found: Token,
    expected: frozenset[str],
    item: Token | None,
    open_brackets: Sequence[Token],
    resume: Resume,
    *,
    stray: bool,
    in_one_line: bool,
) -> Mistake:
    """Say what is wrong with the token `found` where one of `expected` should be."""
    span = Span(source, start_of(found), max(end_of(found), start_of(found)))
    special = _special(source, found, span)
    if special is not None:
        return special
    if stray:
        return Mistake.at(codes.STRAY_BRACE, span, "no block is open here", drop=True)
    if in_one_line and found.type in ("IDENT", "NL", "COMMA") and ("RBRACE" in expected or found.type == "NL"):
        return Mistake.at(
            codes.ONE_LINE_BLOCK,
            span,
            "the block has to end here",
            help="put `{` at the end of the first line, each attribute on a line of its own, and `}` on the last",
        )
    if resume.unclosed is not None and open_brackets and resume.unclosed is open_brackets[-1]:
        bracket = Span(source, start_of(resume.unclosed), end_of(resume.unclosed))
        return Mistake.at(
            codes.UNCLOSED_BRACKET,
            bracket,
            f"this `{bracket.text}` has no partner",
            secondary=((span, f"{_found(found)} can't stand inside it"),),
            help=f"close it with {_WORDS[OPENERS[resume.unclosed.type]]}",
        )
    return _unexpected(found, expected, item, span)


def _unexpected(found: Token, expected: frozenset[str], item: Token | None, span: Span) -> Mistake:
    message = f"expected {_expectation(expected, found)}, found {_found(found)}"
    help_text, fix = "", None
    if found.type == "COMMA" and "NL" in expected:
        help_text = "attributes of a block end with their line, without a comma"
        fix = Fix("remove the comma", (Edit(span, ""),))
    elif found.type in ("IDENT", "COLON", "NUMBER", "STRING") and "NL" in expected:
        help_text = "put each attribute and each block on a line of its own"
    elif found.type in ("NL", "$END") and item is not None and "EQUAL" in expected:
        help_text = f"an attribute is `{item} = value`, a block `{item} {{ … }}`"
    elif found.type == "COLON" and "EQUAL" in expected:
        help_text = "attributes are written `name = value`"
        fix = Fix("replace `:` by ` =`", (Edit(span, " ="),))
    elif found.type == "EQUAL" and item is None:
        help_text = "an attribute begins with its name"
    elif item is None:
        help_text = 'a line of a block is an attribute `name = value` or a block `type "label" {`'
    return Mistake.at(codes.UNEXPECTED_TOKEN, span, message, help=help_text, fix=fix)


def _special(source: SourceFile, found: Token, span: Span) -> Mistake | None:
    if found.type == "WRONG_UNTERMINATED":
        return Mistake.at(
            codes.UNTERMINATED_STRING,
            Span(source, span.start, span.end),
            'this string has no closing `"`',
            help='close it with `"`; a line break inside a string is written `\\n`',
        )
    if found.type == "WRONG_COMMENT":
        opening = Span(source, span.start, span.start + 2)
        return Mistake.at(
            codes.UNCLOSED_COMMENT, opening, "this comment goes on to the end of the file", help="close it with `*/`"
        )
    if found.type == "WRONG_HEREDOC":
        return Mistake.at(
            codes.HEREDOC,
            span,
            "a heredoc begins here",
            help="write the text as one quoted string, with `\\n` for line breaks",
        )
    if found.type == "WRONG_SINGLE_QUOTED":
        inner = found[1:-1].replace("\\", "\\\\").replace('"', '\\"')
        return Mistake.at(
            codes.SINGLE_QUOTES,
            span,
            "this is quoted with `'`",
            fix=Fix("use double quotes", (Edit(span, f'"{inner}"'),)),
        )
    if found.type in ("WRONG_CHARACTER", "WRONG_NUMBER"):
        return _character(found, span)
    return None


def _character(found: Token, span: Span) -> Mistake:
    if found.type == "WRONG_NUMBER":
        return Mistake.at(
            codes.NUMBER_RANGE,
            span,
            "not a number",
            help="numbers are written like `0`, `12`, `0.5` or `1e6`, without leading zeros",
        )
    char = str(found)
    shown = f"`{char}`" if char.isprintable() else f"U+{ord(char):04X}"
    if char == ";":
        return Mistake.at(
            codes.UNEXPECTED_CHARACTER, span, f"{shown} ends nothing here", help="end the line instead", drop=True
        )
    if char in _SMART_QUOTES or char == "'":
        return Mistake.at(
            codes.UNEXPECTED_CHARACTER, span, f"{shown} is not a quote of this language", help='quote strings with `"`'
        )
    return Mistake.at(
        codes.UNEXPECTED_CHARACTER,
        span,
        f"{shown} can't stand outside a string",
        help="names have letters (a-z, A-Z), digits, `_` and `-`; anything else goes into a quoted string",
    )


def _found(token: Token) -> str:
    if token.type in ("NL", "$END"):
        return _WORDS[token.type]
    text = str(token)
    return f"`{text if len(text) <= 40 else text[:37] + '…'}`"


def _expectation(expected: frozenset[str], found: Token) -> str:
    """The expected tokens in words: values and operators are named as such."""
    del found
    words: list[str] = []
    if expected >= _VALUE:
        words.append("a value")
        expected = expected - _VALUE - {"IDENT", "LBRACE", "MINUS", "BANG", "STRING"}
    names = [
        _WORDS[kind]
        for kind in ("STRING", "IDENT", "EQUAL", "LBRACE", "COMMA", "COLON", "RBRACE", "RBRACKET", "RPAREN", "NL")
        if kind in expected
    ]
    if "STRING" in expected and "LBRACE" in expected:
        names = ["a label in quotes" if name == "a string" else name for name in names if name != "a name"]
    elif "IDENT" in expected and "NL" in expected and "RBRACE" in expected:
        names = [
            "an attribute, a block" if name == "a name" else name for name in names if name != "the end of the line"
        ]
    elif "IDENT" in expected and "NL" in expected:
        names = ["an attribute or a block"]
    words += names
    if not words and expected & _OPERATORS:
        words.append("an operator")
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
