"""`parse`: text → syntax tree, with all syntax errors of the file in one pass.

The LALR parser is driven token by token. When it refuses a token, the mistake
is reported once (`recovery` says how), the item it is in is dropped or marked
invalid, and reading goes on at the next line of the same block. Where a block
is never closed, indentation says where its brace is missing, and the file is
read again as if it were there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lark import Token
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from itbc.dsl import codes
from itbc.dsl.diagnostics import Edit, Fix, Sink
from itbc.dsl.lexing import CLOSERS, OPENERS, end_of, expected_types, grammar, read_from, start_of, tokens
from itbc.dsl.mistakes import Mistake, Refusal, describe
from itbc.dsl.recovery import Resume, resume_after
from itbc.dsl.source import SourceFile, Span
from itbc.dsl.syntax import Comment, File
from itbc.dsl.tree import build

MAX_DEPTH = 48
"""How deep blocks and brackets may be nested together."""

MAX_ERRORS = 100
"""After so many syntax errors the rest of a file isn't read."""

MAX_GUESSES = 10
"""How many missing braces are put in, and spare ones left out, before the search for them ends."""

MAX_REREAD = 200_000
"""Files with more characters than this are read only once, wherever their braces are missing."""

_ITEM_STARTS = frozenset({"IDENT", "NL"})
_INNER_ITEM_STARTS = _ITEM_STARTS | {"RBRACE"}


@dataclass(frozen=True, slots=True)
class Guess:
    """An offset before which a closing brace is taken to be missing, or at which there is one too many."""

    offset: int
    missing: bool


@dataclass(slots=True)
class Frame:
    """An open block (or the file itself, without an opener) and the item of it that is being read.

    `fresh` is true where an item can begin, `first` until the first token after the brace. `base` is the height of the
    parser's stack below the item, `in_value` says that its `=` has been read, `brackets` are those open in its value.
    """

    opener: Token | None
    indent: int
    one_line: bool = False
    first: bool = True
    fresh: bool = True
    item: Token | None = None
    base: int = 0
    in_value: bool = False
    brackets: list[Token] = field(default_factory=list[Token])

    def next_item(self) -> None:
        """Be ready for the next item."""
        self.fresh = True
        self.item = None
        self.in_value = False
        self.brackets.clear()


def parse(source: SourceFile, sink: Sink) -> File:
    """Read a file. Whatever is in the text, this returns a tree and reports what is wrong; it doesn't raise."""
    guesses: frozenset[Guess] = frozenset()
    best_sink = Sink()
    best = reader = _Reader(source, best_sink, guesses)
    file = reader.read()
    tries = MAX_GUESSES if len(source.text) < MAX_REREAD else 0
    while reader.guess is not None and reader.guess not in guesses and len(guesses) < tries:
        guesses |= {reader.guess}
        trial = Sink()
        reader = _Reader(source, trial, guesses)
        again = reader.read()
        if reader.other_errors > best.other_errors:
            break
        file, best, best_sink = again, reader, trial
    for diagnostic in best_sink.diagnostics:
        sink.add(diagnostic)
    return file


class _Reader:
    """One reading of a file as if some guesses about its braces were right.

    `errors` counts what was reported, `other_errors` without braces; `guess` is what to try next.
    """

    def __init__(self, source: SourceFile, sink: Sink, guesses: frozenset[Guess]) -> None:
        self.source = source
        self.sink = sink
        self.text = source.text
        self.missing = {guess.offset for guess in guesses if guess.missing}
        self.spare = {guess.offset for guess in guesses if not guess.missing}
        self.errors = 0
        self.other_errors = 0
        self.damaged = False
        self.guess: Guess | None = None
        self._missing: Guess | None = None
        self._spare: Guess | None = None
        self._stopped = False
        self._comments: list[Comment] = []
        self._frames: list[Frame] = [Frame(None, -1)]
        self._parser: InteractiveParser = grammar().parse_interactive(self.text)
        self._stream: Iterator[Token] = iter(())

    def read(self) -> File:
        start = 0
        if self.text.startswith("\ufeff"):
            span = self._span(0, 1)
            fix = Fix("remove it", (Edit(span, ""),))
            self._report(Mistake(codes.BYTE_ORDER_MARK, span, "remove this character", fix=fix))
            start = 1
        self._seek(start)
        while not self._stopped:
            token = next(self._stream, None)
            if token is None:
                break
            self._take(token)
        self._finish()
        end = Token("$END", "", len(self.text), end_pos=len(self.text))
        body, more = build(self._parser.feed_token(end), self.source, self.sink)
        return File(self.source, body, tuple(self._comments), self.damaged or more)

    def _seek(self, position: int) -> None:
        self._stream = read_from(self._parser, self.text, position)

    # -- one token -----------------------------------------------------------------------------------------------

    def _take(self, token: Token) -> None:
        frame = self._frames[-1]
        if token.type == "COMMENT":
            self._comment(token)
            return
        if token.type == "NL" and frame.brackets and frame.brackets[-1].type != "LBRACE":
            return
        if token.type in OPENERS and len(self._frames) + sum(len(open_.brackets) for open_ in self._frames) > MAX_DEPTH:
            self._too_deep(token)
            return
        if start_of(token) in self.spare and frame.fresh:
            self._leave_out_brace(token)
            return
        if start_of(token) in self.missing and frame.fresh and frame.opener is not None:
            self._put_in_brace(frame, frame.opener, token)
            frame = self._frames[-1]
        if frame.first and frame.opener is not None:
            frame.one_line = token.type != "NL"
        if frame.fresh and token.type not in (_ITEM_STARTS if frame.opener is None else _INNER_ITEM_STARTS):
            # Refused before the parser sees it: LALR may reduce the whole body before it notices a wrong token.
            self._recover(token)
            return
        try:
            self._parser.feed_token(token)
        except UnexpectedToken:
            self._recover(token)
        else:
            self._advance(frame, token)

    def _advance(self, frame: Frame, token: Token) -> None:
        """Keep book of where the parser is after it took a token."""
        frame.first = False
        if frame.fresh:
            self._suspect_missing(frame, token)
        if frame.fresh and token.type == "IDENT":
            frame.fresh = False
            frame.item = token
            frame.base = len(self._parser.parser_state.state_stack) - 1
        elif token.type == "EQUAL" and not frame.brackets:
            frame.in_value = True
        elif token.type == "LBRACE" and not frame.in_value:
            self._frames.append(Frame(token, self._indent(token)))
        elif token.type in OPENERS:
            frame.brackets.append(token)
        elif token.type in CLOSERS and frame.brackets:
            frame.brackets.pop()
        elif token.type == "RBRACE":
            self._suspect_spare(frame, token)
            self._frames.pop()
        elif token.type == "NL" and not frame.brackets:
            frame.next_item()

    def _suspect_missing(self, frame: Frame, token: Token) -> None:
        """Remember the first line further left than the block it is in: a brace may be missing before it."""
        if self._missing is not None or frame.opener is None or frame.one_line or token.type == "NL":
            return
        start = start_of(token)
        column = start - self._line_start(start)
        if column < frame.indent or (column == frame.indent and token.type == "IDENT"):
            self._missing = Guess(start, missing=True)

    def _suspect_spare(self, frame: Frame, token: Token) -> None:
        """Remember the first closing brace further right than the block it closes: it may be one too many."""
        start = start_of(token)
        line = self._line_start(start)
        if self._spare is None and start - line > frame.indent and not self.text[line:start].strip():
            self._spare = Guess(start, missing=False)

    def _comment(self, token: Token) -> None:
        """Keep a comment. After it the line must end: not every reader of HCL takes one in the middle of a line."""
        span = self._span(start_of(token), end_of(token))
        self._comments.append(Comment(str(token), span))
        if not token.startswith("/*"):
            return
        following = next(tokens(self.text, end_of(token)), None)
        if following is not None and following.type not in ("NL", "COMMENT"):
            message = "the line goes on after this comment"
            self._report(
                Mistake(codes.MISPLACED_COMMENT, span, message, help="put it at the end of the line or on its own")
            )

    # -- mistakes ------------------------------------------------------------------------------------------------

    def _too_deep(self, token: Token) -> None:
        self._report(
            Mistake(
                codes.TOO_DEEP,
                self._span(start_of(token), end_of(token)),
                f"this is level {MAX_DEPTH + 1}",
                help=f"blocks and brackets may be nested {MAX_DEPTH} deep; the rest of the file wasn't read",
            )
        )
        self._stopped = True

    def _leave_out_brace(self, token: Token) -> None:
        span = self._span(start_of(token), end_of(token))
        message = "going by the indentation, this closes nothing"
        fix = Fix("remove it", (Edit(span, ""),))
        self._report(Mistake(codes.STRAY_BRACE, span, message, help="remove it", fix=fix))

    def _put_in_brace(self, frame: Frame, opener: Token, token: Token) -> None:
        start = start_of(token)
        line = self._line_start(start)
        self._report(
            Mistake(
                codes.UNCLOSED_BLOCK,
                self._span(start_of(opener), end_of(opener)),
                "this brace has no partner",
                secondary=((self._span(start, end_of(token)), "going by the indentation, the block ends before this"),),
                help="close the block with `}` on a line of its own",
                fix=Fix("close the block", (Edit(self._span(line, line), " " * frame.indent + "}\n"),)),
            )
        )
        self._make("RBRACE", "NL", at=start)
        self._frames.pop()
        self._frames[-1].next_item()

    def _recover(self, token: Token) -> None:
        """Report a token that the parser refused, drop its item, and go on after it."""
        frame = self._frames[-1]
        found = next(tokens(self.text, start_of(token)), token)
        stray = found.type == "RBRACE" and frame.opener is None and frame.fresh
        expected = frozenset[str]() if stray else expected_types(self._parser)
        one_line = frame.one_line
        brackets = [inner.opener for inner in self._frames if inner.one_line and inner.opener is not None]
        brackets += frame.brackets
        self._leave_one_line_blocks()
        level = self._frames[-1]
        item = None if level.fresh else level.item
        resume = resume_after(self.text, found, item, brackets, at_top=level.opener is None)
        refusal = Refusal(found, expected, item, tuple(brackets), stray=stray, one_line=one_line)
        mistake = describe(self.source, refusal, resume)
        if mistake.code is codes.STRAY_BRACE and self.guess is None:
            self.guess = self._spare
        self._report(mistake)
        self._drop_item(resume)
        self._seek(resume.position)

    def _leave_one_line_blocks(self) -> None:
        while self._frames[-1].one_line:
            self._frames.pop()

    def _drop_item(self, resume: Resume) -> None:
        """Take the item that is being read off the parser's stacks, and put a placeholder in its place."""
        frame = self._frames[-1]
        item = None if frame.fresh else frame.item
        if item is None:
            self._make("MADE_DAMAGE", "NL", at=resume.position)
            frame.next_item()
            return
        stacks = self._parser.parser_state
        del stacks.state_stack[frame.base :]
        del stacks.value_stack[frame.base - 1 :]
        if frame.in_value:
            self._parser.feed_token(item)
            self._make("EQUAL", "MADE_VALUE", "NL", at=end_of(item), end=resume.position)
            frame.next_item()
        elif resume.opens is not None:
            self._parser.feed_token(item)
            self._make("MADE_LABEL", at=end_of(item), end=start_of(resume.opens))
            self._parser.feed_token(resume.opens)
            frame.brackets.clear()
            self._frames.append(Frame(resume.opens, self._indent(item)))
        else:
            self._make("MADE_DAMAGE", "NL", at=start_of(item), end=resume.position)
            frame.next_item()

    def _make(self, *types: str, at: int, end: int = 0) -> None:
        """Feed the parser tokens that aren't in the text."""
        for kind in types:
            self._parser.feed_token(Token(kind, "", at, end_pos=max(at, end)))

    def _finish(self) -> None:
        """Close what is open at the end of the text."""
        end = len(self.text)
        frame = self._frames[-1]
        nowhere = Token("$END", "", end, end_pos=end)
        if self._stopped:
            self._leave_one_line_blocks()
            if not self._frames[-1].fresh:
                self._drop_item(Resume(end))
        elif frame.one_line or frame.brackets:
            self._recover(nowhere)
        elif not frame.fresh:
            try:
                self._make("NL", at=end)
            except UnexpectedToken:
                self._recover(nowhere)
            else:
                frame.next_item()
        self._close_frames(end)

    def _close_frames(self, end: int) -> None:
        if len(self._frames) > 1 and not self._stopped:
            self.guess = self.guess or self._missing
            opener = self._frames[-1].opener
            place = start_of(opener) if opener is not None else 0
            self._report(
                Mistake(
                    codes.UNCLOSED_BLOCK,
                    self._span(place, place + 1),
                    "this brace has no partner",
                    secondary=((self._span(end, end), "the file ends here"),),
                    help="close the block with `}` on a line of its own",
                )
            )
        while len(self._frames) > 1:
            closing = self._frames.pop()
            self._make(*(("NL",) if closing.first else ()), "MADE_DAMAGE", "NL", "RBRACE", "NL", at=end)
        if self._stopped:
            self._make("MADE_DAMAGE", "NL", at=end)

    def _report(self, mistake: Mistake) -> None:
        self.errors += 1
        self.other_errors += mistake.code not in (codes.UNCLOSED_BLOCK, codes.STRAY_BRACE)
        self.damaged = True
        self.sink.report(
            mistake.code,
            mistake.span,
            mistake.message,
            secondary=mistake.secondary,
            help=mistake.help,
            fix=mistake.fix,
        )
        if self.errors == MAX_ERRORS:
            self._stopped = True
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
        """How far the line of a token is indented."""
        start = self._line_start(start_of(token))
        line = self.text[start : start_of(token) + 1]
        return len(line) - len(line.lstrip(" \t"))
