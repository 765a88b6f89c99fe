"""PromQL read by a parser of its whole grammar: what Prometheus wouldn't take, and where.

The parser says what is wrong, but of what can't be parsed at all not where. The
place is the first word after which nothing could make an expression of what stands
before: that is looked for by completing beginnings of the expression.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import promql_parser

from itbc.dsl.values import Wrong

MOST_WORDS = 500
"""Longer expressions are left to Prometheus: this parser's stack has a bound, and none is told when it is reached."""

_WORD = re.compile(
    r"""(?P<comment>\#[^\n]*)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`"""
    r"""|[0-9.][0-9A-Za-z_.]*(?:(?<=[eE])[-+][0-9]+)?|[A-Za-z_][A-Za-z0-9_:]*|=~|!~|!=|==|<=|>=|\S""",
    re.DOTALL,
)
_NO_EXPRESSION = "invalid promql query"
"""All that the parser says of what the grammar doesn't allow; other messages say what is wrong."""

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_LONGEST = 1e11
"""Seconds; more than 3000 years."""

_WITHIN = ("", " x", " (x)", ' = "x"', ' "x"', " 5m", " 1", " ()", " (a) x", " (a) (x)")
"""What can go on where an expression breaks off, one for each place in the grammar."""

_BEHIND = ("", " x", " (x)")
"""What can go on where the innermost bracket is closed."""

_HELP = "https://prometheus.io/docs/prometheus/latest/querying/basics/ has the grammar"

_RAW = re.compile(r"""(\#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]*)`""", re.DOTALL)

Span = tuple[int, int]


def problem(query: str) -> Wrong | None:
    """Why Prometheus wouldn't take an expression whose quotes and brackets are balanced. None where it would."""
    words = [found.span() for found in _WORD.finditer(query) if not found["comment"]]
    if len(words) > MOST_WORDS:
        return None
    endless = _endless(query, words)
    if endless is not None:
        return Wrong("no duration is that long", "write a duration like `5m`", *endless)
    try:
        parsed = _parsed(query)
    except ValueError as wrong:
        said = str(wrong)
        return _misplaced(query, words) if said == _NO_EXPRESSION else _refused(query, said)
    while isinstance(parsed, promql_parser.ParenExpr):
        parsed = parsed.expr
    if isinstance(parsed, promql_parser.MatrixSelector | promql_parser.SubqueryExpr):
        help_ = "ask a function over time for one, such as `rate(…)`"
        return Wrong("this is a range of samples, not one value at a time", help_, 0, len(query))
    if isinstance(parsed, promql_parser.StringLiteral):
        return Wrong("this is a text, not a value", "write an expression that gives a number", 0, len(query))
    return None


def _refused(query: str, said: str) -> Wrong:
    """The parser's own words, at the name that they are about where there is only one of it."""
    for name in re.findall(r"'([^']+)'", said):
        found = list(re.finditer(rf"(?<![\w:]){re.escape(name)}(?![\w:])", query))
        if len(found) == 1:
            return Wrong(said, _HELP, *found[0].span())
    return Wrong(said, _HELP, 0, len(query))


def _misplaced(query: str, words: Sequence[Span]) -> Wrong:
    """The first word that can't stand where it does, or the last one where something is missing behind it."""
    good, bad = 0, len(words) + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if viable(query, words[:middle]) else (good, middle)
    start, end = words[min(good, len(words) - 1)]
    word = query[start:end]
    if good == len(words):
        return Wrong(f"something is missing after `{word}`", _HELP, start, end)
    return Wrong(f"`{word}` can't stand here", _HELP, start, end)


def viable(query: str, words: Sequence[Span]) -> bool:
    """Whether an expression can begin with these words of a query."""
    if not words:
        return True
    closers: list[str] = []
    for start, end in words:
        word = query[start:end]
        if word in _CLOSERS:
            closers.append(_CLOSERS[word])
        elif closers and word == closers[-1]:
            closers.pop()
    begin, inner, outer = query[: words[-1][1]], closers[-1] if closers else "", "".join(reversed(closers[:-1]))
    return any(_parses(f"{begin}{within}{inner}{behind}{outer}") for within in _WITHIN for behind in _BEHIND)


def _endless(query: str, words: Sequence[Span]) -> Span | None:
    """The first number that stands for a duration and is none, over which the parser would fall."""
    expected = False
    for start, end in words:
        word = query[start:end].lower()
        if word in ("offset", "[", ":"):
            expected = True
        elif expected and word not in ("+", "-"):
            expected = False
            if abs(_number(word)) > _LONGEST or word == "nan":
                return start, end
    return None


def _number(word: str) -> float:
    """The value of a number; 0 for any other word."""
    try:
        return float(int(word, 16)) if word.startswith("0x") else float(word)
    except OverflowError:
        return math.inf
    except ValueError:
        return 0.0


def _parsed(query: str) -> promql_parser.Expr:
    """The expression. Raises ValueError. Raw strings are put in quotes: the parser wants escapes in them too."""

    def quoted(found: re.Match[str]) -> str:
        if found[1] is not None:
            return found[1]
        inner = found[2].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{inner}"'

    return promql_parser.parse(_RAW.sub(quoted, query))


def _parses(query: str) -> bool:
    try:
        _parsed(query)
    except ValueError as wrong:
        # Whatever else is wrong was understood; but what isn't even a word is no way to go on.
        return str(wrong) != _NO_EXPRESSION and not str(wrong).startswith("unexpected")
    return True
