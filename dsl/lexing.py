"""The grammar, loaded once, and the two ways of reading tokens with it.

The parser's own (contextual) lexer is used while a file is right; the basic
one, which doesn't depend on what the parser expects, is used to look at the
text around a mistake and to lay out a file. All of Lark that isn't typed is
wrapped here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from lark import Lark, Token
from lark.lark import PostLex
from lark.lexer import LexerState
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.utils import TextSlice

ALWAYS = ("NL", "COMMENT", "WRONG_CHARACTER", "WRONG_UNTERMINATED", "WRONG_HEREDOC", "WRONG_COMMENT", "WRONG_NUMBER")
"""The terminals that are read wherever they stand, whether the parser can take them or not."""

OPENERS = {"LBRACE": "RBRACE", "LBRACKET": "RBRACKET", "LPAREN": "RPAREN"}
CLOSERS = {closer: opener for opener, closer in OPENERS.items()}


class _EverywhereAccepted(PostLex):
    """Makes the contextual lexer read newlines, comments and mistakes wherever they stand."""

    always_accept = ALWAYS

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Pass the tokens on unchanged."""
        return stream


@cache
def grammar() -> Lark:
    """The parser: LALR with a contextual lexer."""
    return _load("contextual")


@cache
def _plain() -> Lark:
    return _load("basic")


def _load(lexer: Literal["contextual", "basic"]) -> Lark:
    return Lark(
        files("itbc.dsl").joinpath("grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer=lexer,
        postlex=_EverywhereAccepted(),
        propagate_positions=True,
        maybe_placeholders=False,
        keep_all_tokens=True,
    )


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens from an offset on, comments and newlines included, mistakes as WRONG_ tokens; never raises."""
    return _plain().lex(TextSlice(text, start, len(text)))


def read_from(parser: InteractiveParser, text: str, start: int) -> Iterator[Token]:
    """The tokens that the parser's own lexer reads from an offset on, going by what the parser expects each time."""
    state = LexerState(TextSlice(text, 0, len(text)))
    state.line_ctr.char_pos = start
    thread: Any = parser.lexer_thread
    thread.state = state
    stream: Iterator[Token] = thread.lex(parser.parser_state)
    return stream


def expected_types(parser: InteractiveParser) -> frozenset[str]:
    """The types of tokens that the parser would take now."""
    asked: Any = parser
    return frozenset(asked.accepts())


def start_of(token: Token) -> int:
    """The offset at which a token begins."""
    return token.start_pos or 0


def end_of(token: Token) -> int:
    """The offset after a token."""
    return token.end_pos or start_of(token)
