"""`parse`: text → syntax tree, with all syntax errors of the file in one pass.

The LALR parser is driven token by token. When it refuses a token, the mistake
is reported once (`recovery` says how), the item it is in is dropped or marked
invalid, and reading goes on at the next line of the same block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lark import Token
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink
from itbc.dsl.lexing import CLOSERS, OPENERS, end_of, grammar, start_of, state, tokens
from itbc.dsl.recovery import Mistake, Resume, describe, resume_after
from itbc.dsl.source import SourceFile, Span
from itbc.dsl.syntax import Comment, File
from itbc.dsl.tree import build

MAX_DEPTH = 48
"""How deep blocks and brackets may be nested together."""

MAX_ERRORS = 100
"""After so many syntax errors the rest of a file isn't read."""


_ITEM_STARTS = frozenset({"IDENT", "NL"})
_INNER_ITEM_STARTS = _ITEM_STARTS | {"RBRACE"}


@dataclass(slots=True)
class Frame:
    """An open block (or the file itself) and the item of it that is being read."""

    opener: Token | None
    indent: int
    one_line: bool = False
    item: Token | None = None
    base: int = 0
    in_value: bool = False
    fresh: bool = True
    suspect: tuple[int, int] | None = None
    brackets: list[Token] = field(default_factory=list[Token])


def parse(source: SourceFile, sink: Sink) -> File:
    """Read a file. Whatever is in the text, this returns a tree and reports what is wrong; it doesn't raise."""
    return _Reader(source, sink).read()


class _Reader:
    def __init__(self, source: SourceFile, sink: Sink) -> None:
        self.source = source
        self.sink = sink
        self.text = source.text
        self.errors = 0
        self.damaged = False
        self.stopped = False
        self.comments: list[Comment] = []
        self.frames: list[Frame] = [Frame(None, -1)]
        self.parser: InteractiveParser = grammar().parse_interactive(self.text)
        self.stream: Iterator[Token] = iter(())
        self.last_line = -1

    # -- reading -------------------------------------------------------------------------------------------------

    def read(self) -> File:
        start = 0
        if self.text.startswith("\ufeff"):
            self._report(Mistake.at(codes.BYTE_ORDER_MARK, self._span(0, 1), "remove this character", drop=True))
            start = 1
        self._seek(start)
        while not self.stopped:
            token = next(self.stream, None)
            if token is None:
                break
            self._take(token)
        self._finish()
        tree = self.parser.feed_eof()
        body, more = build(tree, self.source, self.sink)
        return File(self.source, body, tuple(self.comments), self.damaged or more)

    def _seek(self, position: int) -> None:
        self.parser.lexer_thread.state = state(self.text, position)
        self.stream = self.parser.lexer_thread.lex(self.parser.parser_state)

    def _take(self, token: Token) -> None:
        frame = self.frames[-1]
        if token.type == "COMMENT":
            self._comment(token)
            return
        if token.type == "NL" and frame.brackets and frame.brackets[-1].type != "LBRACE":
            return
        if token.type in OPENERS and len(self.frames) + sum(len(f.brackets) for f in self.frames) > MAX_DEPTH:
            self._report(
                Mistake.at(
                    codes.TOO_DEEP,
                    self._span(start_of(token), end_of(token)),
                    f"this is level {MAX_DEPTH + 1}",
                    help=f"blocks and brackets may be nested {MAX_DEPTH} deep; the rest of the file wasn't read",
                )
            )
            self._drop_item()
            self.stopped = True
            return
        if frame.one_line is False and frame.opener is not None and frame.fresh and frame.item is None:
            frame.one_line = token.type not in ("NL",)
        if frame.fresh and token.type not in (_ITEM_STARTS if frame.opener is None else _INNER_ITEM_STARTS):
            # Refused before the parser sees it: LALR may reduce the whole body before it notices a wrong token.
            self._recover(token)
            return
        try:
            self.parser.feed_token(token)
        except UnexpectedToken:
            self._recover(token)
            return
        self._advance(token)

    def _advance(self, token: Token) -> None:
        """Keep book of where the parser is after it took a token."""
        frame = self.frames[-1]
        if frame.fresh and token.type not in ("NL", "RBRACE"):
            frame.fresh = False
            frame.item = token
            frame.base = len(self.parser.parser_state.state_stack) - 1
            frame.in_value = False
        if token.type == "EQUAL" and not frame.brackets:
            frame.in_value = True
        elif token.type == "LBRACE" and not frame.in_value:
            self.frames.append(Frame(token, self._indent(token)))
        elif token.type in OPENERS:
            frame.brackets.append(token)
        elif token.type in CLOSERS and frame.brackets:
            frame.brackets.pop()
        elif token.type == "RBRACE":
            self._note_indent(frame, token)
            self.frames.pop()
        elif token.type == "NL" and not frame.brackets:
            self._next_item(frame)

    def _next_item(self, frame: Frame) -> None:
        frame.fresh = True
        frame.in_value = False
        frame.brackets.clear()
        if frame.item is None:
            frame.item = Token("NL", "\n")

    def _note_indent(self, frame: Frame, closer: Token) -> None:
        """Remember the first closing brace that stands further left than the block it closes: a brace is missing there."""
        column = self._indent(closer)
        if frame.opener is not None and column < frame.indent and self._first_on_line(closer):
            for outer in self.frames:
                if outer.suspect is None:
                    outer.suspect = (start_of(frame.opener), start_of(closer))

    def _comment(self, token: Token) -> None:
        span = self._span(start_of(token), end_of(token))
        self.comments.append(Comment(str(token), span))
        frame = self.frames[-1]
        in_header = not frame.fresh and not frame.in_value and frame.item is not None and not frame.one_line
        if in_header and token.startswith("/*") and self._header_goes_on(end_of(token)):
            self._report(Mistake.at(codes.COMMENT_IN_HEADER, span, "move this comment to a line of its own"))

    def _header_goes_on(self, position: int) -> bool:
        following = next(tokens(self.text, position), None)
        return following is not None and following.type != "NL"

    # -- mistakes ------------------------------------------------------------------------------------------------

    def _recover(self, token: Token) -> None:
        frame = self.frames[-1]
        found = next(tokens(self.text, start_of(token)), token)
        stray = found.type == "RBRACE" and frame.opener is None and frame.fresh
        expected = frozenset[str]() if stray else frozenset(self.parser.accepts())
        open_brackets = [f.opener for f in self.frames if f.one_line and f.opener is not None] + list(frame.brackets)
        while self.frames[-1].one_line:
            self.frames.pop()
        level = self.frames[-1]
        resume = resume_after(
            self.text, found, level.item if not level.fresh else None, open_brackets, level.opener is None
        )
        self._report(
            describe(
                self.source,
                found,
                expected,
                level.item if not level.fresh else None,
                open_brackets,
                resume,
                stray=stray,
                in_one_line=frame.one_line,
            )
        )
        self._drop_item(resume)
        if not self.stopped:
            self._seek(resume.position)

    def _drop_item(self, resume: Resume | None = None) -> None:
        """Take the item that is being read off the parser's stacks, and put a placeholder in its place."""
        while self.frames[-1].one_line:
            self.frames.pop()
        frame = self.frames[-1]
        frame.brackets.clear()
        self.damaged = True
        first, at = None, len(self.text)
        named = False
        if not frame.fresh and frame.item is not None:
            stacks = self.parser.parser_state
            first, at = frame.item, start_of(frame.item)
            named = frame.in_value
            del stacks.state_stack[frame.base :]
            del stacks.value_stack[frame.base - 1 :]
        elif resume is not None:
            at = resume.position
        if first is not None and named:
            end = resume.position if resume else end_of(first)
            self._make(first, "IDENT", "EQUAL", "MADE_VALUE", "NL", at=end_of(first), end=max(end_of(first), end))
            self._next_item(frame)
        elif first is not None and resume is not None and resume.opens is not None:
            self._make(first, "IDENT", "MADE_LABEL", at=end_of(first), end=start_of(resume.opens))
            self.parser.feed_token(resume.opens)
            frame.fresh = False
            self.frames.append(Frame(resume.opens, self._indent(first)))
        else:
            self._make(None, "MADE_DAMAGE", "NL", at=at, end=at)
            self._next_item(frame)

    def _make(self, first: Token | None, *types: str, at: int, end: int) -> None:
        """Feed the parser tokens that aren't in the text."""
        for kind in types:
            if kind == "IDENT" and first is not None:
                self.parser.feed_token(
                    first
                    if first.type == "IDENT"
                    else Token("IDENT", str(first), start_of(first), end_pos=end_of(first))
                )
            else:
                self.parser.feed_token(Token(kind, "", at, end_pos=max(at, end)))

    def _finish(self) -> None:
        """Close what is open at the end of the text."""
        frame = self.frames[-1]
        end = len(self.text)
        if not self.stopped and not frame.fresh and not (frame.opener is not None and frame.one_line):
            try:
                self.parser.feed_token(Token("NL", "", end, end_pos=end))
            except UnexpectedToken:
                self._recover(Token("$END", "", end, end_pos=end))
            else:
                self._next_item(frame)
        if len(self.frames) > 1 and not self.stopped:
            self._report(self._unclosed())
        if self.frames[-1].one_line:
            self._drop_item()
        while len(self.frames) > 1:
            closing = self.frames.pop()
            if closing.fresh and closing.item is None:
                self._make(None, "NL", at=end, end=end)
            self._make(None, "RBRACE", "NL", at=end, end=end)
            self.damaged = True

    def _unclosed(self) -> Mistake:
        frame = self.frames[-1]
        opener = frame.opener
        place = start_of(opener) if opener is not None else 0
        secondary: list[tuple[Span, str]] = []
        for outer in self.frames:
            if outer.suspect is not None:
                place, closer = outer.suspect
                secondary.append(
                    (self._span(closer, closer + 1), "this brace is indented as if it closed an outer block")
                )
                break
        end = len(self.text)
        secondary.append((self._span(end, end), "the file ends here"))
        return Mistake.at(
            codes.UNCLOSED_BLOCK,
            self._span(place, place + 1),
            "this brace has no partner",
            secondary=tuple(secondary),
            help="close the block with `}` on a line of its own",
        )

    def _report(self, mistake: Mistake) -> None:
        self.errors += 1
        self.damaged = True
        self.sink.report(
            mistake.code,
            mistake.span,
            mistake.message,
            secondary=mistake.secondary,
            notes=mistake.notes,
            help=mistake.help,
            fix=mistake.fix,
        )
        if self.errors >= MAX_ERRORS and not self.stopped:
            self.stopped = True
            self.sink.report(
                codes.TOO_MANY_ERRORS,
                mistake.span,
                f"this is the {MAX_ERRORS}th; the rest of the file wasn't read",
                help="is this an .itb file? Mend the first errors and check again",
            )

    # -- places --------------------------------------------------------------------------------------------------

    def _span(self, start: int, end: int) -> Span:
        return Span(self.source, min(start, len(self.text)), min(end, len(self.text)))

    def _line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def _indent(self, token: Token) -> int:
        start = self._line_start(start_of(token))
        line = self.text[start : start_of(token) + 1]
        return len(line) - len(line.lstrip(" \t")) if line.strip() else len(line)

    def _first_on_line(self, token: Token) -> bool:
        return not self.text[self._line_start(start_of(token)) : start_of(token)].strip()
