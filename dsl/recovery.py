"""Panic-mode recovery: where reading goes on after a syntax error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lark import Token

from itbc.dsl.lexing import CLOSERS, OPENERS, end_of, start_of, tokens


@dataclass(frozen=True, slots=True)
class Resume:
    """Where reading goes on.

    `opens` is the brace of a block whose header is broken but whose inside can be read; `unclosed` is a bracket
    of the broken item that was given up.
    """

    position: int
    opens: Token | None = None
    unclosed: Token | None = None


def resume_after(text: str, found: Token, item: Token | None, brackets: Sequence[Token], *, at_top: bool) -> Resume:
    """Find the next line of the same block after the token `found`, which the parser refused.

    `item` is the first token of the broken item, `brackets` are those open in it; they are skipped as a whole, unless a
    line looks like the next item of the block. `at_top` says that the block is the file itself.
    """
    if found.type == "RBRACE" and item is None and at_top:
        return Resume(end_of(found))
    if item is not None and brackets:
        line = text.rfind("\n", 0, start_of(found)) + 1
        if line > start_of(brackets[-1]) and _looks_like_item(text, line, _column(text, item), brackets[-1]):
            return Resume(line, unclosed=brackets[-1])
    return _Skipper(text, item, brackets, at_top=at_top).skip(found)


class _Skipper:
    """Skips what is left of a broken item."""

    def __init__(self, text: str, item: Token | None, brackets: Sequence[Token], *, at_top: bool) -> None:
        self._text = text
        self._at_top = at_top
        self._item = item
        self._stack = list(brackets)
        self._column = _column(text, item) if item is not None else 0
        self._last: Token | None = None

    def skip(self, found: Token) -> Resume:
        if found.type != "$END":
            for token in tokens(self._text, start_of(found)):
                resume = self._look_at(token)
                if resume is not None:
                    return resume
                if token.type not in ("COMMENT", "NL"):
                    self._last = token
        return Resume(len(self._text), unclosed=self._stack[-1] if self._stack else None)

    def _look_at(self, token: Token) -> Resume | None:
        if token.type in OPENERS:
            self._stack.append(token)
        elif token.type in CLOSERS:
            return self._close(token)
        elif token.type == "WRONG_UNTERMINATED":
            return self._header_in_string(token)
        elif token.type == "NL":
            return self._line_end(token)
        return None

    def _close(self, closer: Token) -> Resume | None:
        """Take the partner of a closing bracket off the stack, with unclosed brackets inside it."""
        if closer.type == "RBRACE" and all(opener.type != "LBRACE" for opener in self._stack):
            if self._at_top:
                return None
            return Resume(start_of(closer), unclosed=self._stack[-1] if self._stack else None)
        wanted = CLOSERS[closer.type]
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index].type == wanted:
                del self._stack[index:]
                break
        return None

    def _header_in_string(self, token: Token) -> Resume | None:
        """A label without its second quote swallows the brace of the block; the inside can be read all the same."""
        if self._stack or self._item is None or not token.rstrip().endswith("{") or not self._is_header():
            return None
        brace = start_of(token) + len(token.rstrip()) - 1
        return Resume(brace + 1, Token("LBRACE", "{", brace, end_pos=brace + 1))

    def _line_end(self, token: Token) -> Resume | None:
        if not self._stack:
            return Resume(end_of(token))
        brace = self._last
        if brace is not None and self._stack == [brace] and brace.type == "LBRACE" and self._is_header():
            return Resume(start_of(token), brace)
        if _looks_like_item(self._text, end_of(token), self._column, self._stack[-1]):
            return Resume(end_of(token), unclosed=self._stack[-1])
        return None

    def _is_header(self) -> bool:
        """Whether the item is a block's header rather than an attribute: there is no `=` after its first word."""
        if self._item is None:
            return False
        stream = tokens(self._text, start_of(self._item))
        next(stream, None)
        following = next(stream, None)
        return following is None or following.type != "EQUAL"


def _column(text: str, token: Token) -> int:
    return start_of(token) - (text.rfind("\n", 0, start_of(token)) + 1)


def _looks_like_item(text: str, position: int, column: int, bracket: Token) -> bool:
    """Whether the line at `position` begins an item of the block, though `bracket` before it is still open."""
    stream = tokens(text, position)
    first = _next_code(stream)
    if first is None or first.type in CLOSERS:
        return False
    if _column(text, first) <= column:
        return True
    if first.type != "IDENT":
        return False
    second = next(stream, None)
    if second is not None and second.type == "EQUAL":
        return bracket.type != "LBRACE"
    while second is not None and second.type == "STRING":
        second = next(stream, None)
    return second is not None and second.type == "LBRACE"


def _next_code(stream: Iterator[Token]) -> Token | None:
    return next((token for token in stream if token.type not in ("COMMENT", "NL")), None)
