"""The one canonical layout of a file: that of `terraform fmt`, and at most one blank line where there are several.

Layout moves tokens apart and together; it never adds, drops or changes one, so comments and meaning stay. Where lines
break is the author's business, except for blank lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import regex
from lark import Token

from itbc.dsl.lexing import CLOSERS, OPENERS, tokens
from itbc.dsl.syntax import File

INDENT = 2
_OPERANDS_BEFORE_MINUS = frozenset(
    {"IDENT", "NUMBER", "STRING", "TRUE", "FALSE", "NULL", "RPAREN", "RBRACKET", "RBRACE", "DOT"}
)
_GRAPHEME = regex.compile(r"\X")


@dataclass(slots=True)
class _Line:
    """A line's tokens in three cells: what it begins with, an assignment, a comment at its end."""

    lead: list[Token]
    assign: list[Token] = field(default_factory=list[Token])
    comment: list[Token] = field(default_factory=list[Token])
    indent: int = 0
    assign_gap: int = 1
    comment_gap: int = 1

    @property
    def blank(self) -> bool:
        return not self.lead

    @property
    def balance(self) -> int:
        """How many brackets it opens, less those it closes."""
        return sum(_change(token) for token in (*self.lead, *self.assign))


def format_file(file: File) -> str:
    """The canonical text of a file. Only for files without syntax errors: raises ValueError for a damaged one."""
    if file.damaged:
        raise ValueError("a file with syntax errors has no layout")
    return format_text(file.source.text)


def format_text(text: str) -> str:
    """The canonical text of a syntactically right text."""
    lines = _without_spare_blanks(_lines(text.replace("\r\n", "\n")))
    _set_indents(lines)
    for line in lines:
        _split(line)
    _align_assignments(lines)
    _align_comments(lines)
    return "".join(_text(line) + "\n" for line in lines) or "\n"


def _lines(text: str) -> list[_Line]:
    lines = [_Line([])]
    for token in tokens(text):
        if token.type == "NL":
            lines.append(_Line([]))
        else:
            lines[-1].lead.append(token)
    return lines


def _without_spare_blanks(lines: Sequence[_Line]) -> list[_Line]:
    """No blank line at the beginning and end of the file and of each bracket, and never two in a row."""
    kept: list[_Line] = []
    for line in lines:
        if line.blank:
            inside_start = not kept or kept[-1].blank or _opens(kept[-1])
            if inside_start:
                continue
        elif kept and kept[-1].blank and line.lead[0].type in CLOSERS:
            kept.pop()
        kept.append(line)
    while kept and kept[-1].blank:
        kept.pop()
    return kept


def _opens(line: _Line) -> bool:
    code = [token for token in line.lead if token.type != "COMMENT"]
    return bool(code) and code[-1].type in OPENERS


def _change(token: Token) -> int:
    if token.type in OPENERS:
        return 1
    return -1 if token.type in CLOSERS else 0


def _set_indents(lines: Sequence[_Line]) -> None:
    """Each line that opens brackets indents what follows by one level, however many it opens."""
    levels: list[int] = []
    for line in lines:
        if line.blank:
            continue
        balance = line.balance
        if balance < 0:
            closed = -balance
            while closed > 0 and levels:
                if closed >= levels[-1]:
                    closed -= levels.pop()
                else:
                    levels[-1] -= closed
                    closed = 0
        line.indent = INDENT * len(levels)
        if balance > 0:
            levels.append(balance)


def _split(line: _Line) -> None:
    """Move a trailing comment and a whole assignment into their own cells."""
    if len(line.lead) > 1 and line.lead[-1].type == "COMMENT" and not line.lead[-1].startswith("/*"):
        line.comment = [line.lead.pop()]
    for index, token in enumerate(line.lead):
        if index > 0 and token.type == "EQUAL":
            if sum(_change(rest) for rest in line.lead[index:]) == 0:
                line.assign = line.lead[index:]
                line.lead = line.lead[:index]
            return


def _align_assignments(lines: Sequence[_Line]) -> None:
    for run in _runs(lines, lambda line: bool(line.assign)):
        widest = max(_lead_width(line) for line in run)
        for line in run:
            line.assign_gap = widest - _lead_width(line) + 1


def _align_comments(lines: Sequence[_Line]) -> None:
    for run in _runs(lines, lambda line: bool(line.comment)):
        widest = max(_code_width(line) for line in run)
        for line in run:
            line.comment_gap = widest - _code_width(line) + 1


def _runs(lines: Sequence[_Line], has: Callable[[_Line], bool]) -> list[list[_Line]]:
    """Stretches of neighbouring lines that all have something."""
    runs: list[list[_Line]] = []
    going = False
    for line in lines:
        if has(line):
            if not going:
                runs.append([])
            runs[-1].append(line)
        going = has(line)
    return runs


def _lead_width(line: _Line) -> int:
    return line.indent + _width(_joined(line.lead))


def _code_width(line: _Line) -> int:
    return _lead_width(line) + (line.assign_gap + _width(_joined(line.assign)) if line.assign else 0)


def _width(text: str) -> int:
    """How many characters a reader sees, as Terraform counts them: grapheme clusters."""
    return len(text) if text.isascii() else len(_GRAPHEME.findall(text))


def _text(line: _Line) -> str:
    if line.blank:
        return ""
    out = " " * line.indent + _joined(line.lead)
    if line.assign:
        out += " " * line.assign_gap + _joined(line.assign)
    if line.comment:
        out += " " * line.comment_gap + _joined(line.comment)
    return out


def _joined(cell: Sequence[Token]) -> str:
    """The tokens of a cell with the spaces that belong between them."""
    out: list[str] = []
    for index, token in enumerate(cell):
        if index > 0 and _space(cell[index - 2] if index > 1 else None, cell[index - 1], token):
            out.append(" ")
        out.append(token.rstrip(" \t") if token.type == "COMMENT" else str(token))
    return "".join(out)


def _space(before: Token | None, token: Token, after: Token) -> bool:  # noqa: PLR0911 - one return a rule
    """Whether a space belongs between `token` and `after`; `before` is what stands before them."""
    if token.type == "IDENT" and after.type == "LPAREN":
        return False
    if "DOT" in (token.type, after.type) or after.type == "COMMA":
        return False
    if token.type == "COMMA":
        return True
    if after.type == "LBRACKET" and (token.type in ("IDENT", "NUMBER") or token.type in CLOSERS):
        return False
    if token.type == "MINUS":
        return before is not None and before.type in _OPERANDS_BEFORE_MINUS
    if token.type == "LBRACE" or after.type == "RBRACE":
        return not (token.type == "LBRACE" and after.type == "RBRACE")
    return token.type not in OPENERS and after.type not in CLOSERS and token.type != "BANG"
