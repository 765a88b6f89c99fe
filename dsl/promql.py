"""Whether a text is PromQL that gives numbers: first the brackets, whose places can be told, then the whole of it.

Prometheus reads it once more, when the environment stands: the one that is
there may be older than the language that is known here.
"""

from __future__ import annotations

import re

import promql_parser

from itbc.dsl.values import Wrong

LONGEST = 4000
"""How many characters an expression may have. The parser's time grows with the square of how deep it is nested."""

DEEPEST = 50
"""How many brackets may be open at once: the parser calls itself for each."""

_HUGE_OFFSET = re.compile(r"\boffset\s*[-+]?\s*(?:inf|nan|[0-9.]+e[0-9]+)", re.IGNORECASE)
"""What the parser can't put into a duration, and dies of."""

_RAW = re.compile(r"""`[^`]*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\#[^\n]*""", re.DOTALL)
"""Strings of all three kinds, and comments, which may hold what looks like one."""

_NO_NUMBERS = (
    (promql_parser.MatrixSelector, "a range of samples"),
    (promql_parser.StringLiteral, "a text"),
    (promql_parser.SubqueryExpr, "a range of samples"),
)

_PARTNERS = {")": "(", "]": "[", "}": "{"}
_CLOSERS = {opener: closer for closer, opener in _PARTNERS.items()}


def problem(query: str) -> Wrong | None:
    """Why a text isn't a PromQL expression whose value is a number or a vector of them; None where it is."""
    whole = (0, len(query))
    if len(query) > LONGEST:
        return Wrong(f"the query has more than {LONGEST} characters", "split it, or record a part of it", *whole)
    wrong = _huge_offset(query) or _unbalanced(query)
    if wrong is not None:
        return wrong
    try:
        found: object = promql_parser.parse(_RAW.sub(_as_quoted, query))
    except ValueError as refused:
        return Wrong(f"PromQL doesn't allow this: {refused}", _remedy(str(refused)), *whole)
    kind = next((word for each, word in _NO_NUMBERS if isinstance(found, each)), "")
    if not kind:
        return None
    return Wrong(f"its value is {kind}, not numbers", "wrap it into a function, as in `rate(x[1m])`", *whole)


def _as_quoted(found: re.Match[str]) -> str:
    """A string in backquotes in double ones instead: the parser wrongly looks for escapes in the former."""
    text = found[0]
    if not text.startswith("`"):
        return text
    inner = text[1:-1].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'


def _remedy(refused: str) -> str:
    if "invalid promql" in refused or "unexpected" in refused:
        return "see https://prometheus.io/docs/prometheus/latest/querying/basics/"
    return "correct the expression; `promtool` or Prometheus' page evaluates it while you try"


def _huge_offset(query: str) -> Wrong | None:
    huge = _HUGE_OFFSET.search(query)
    return None if huge is None else Wrong("this offset is no duration", "write one like `offset 5m`", *huge.span())


def _unbalanced(query: str) -> Wrong | None:
    """Why an expression can't be complete: empty, or a quote or bracket without its partner. None where it can."""
    stack: list[tuple[str, int]] = []
    position, content = 0, False
    while position < len(query):
        char = query[position]
        if char in "\"'`":
            end = _end_of_string(query, position)
            if end is None:
                return Wrong(
                    f"a {char} at character {position + 1} is never closed",
                    "close the string inside the query",
                    position,
                    len(query),
                )
            position = end
            content = True
            continue
        if char == "#":
            newline = query.find("\n", position)
            position = len(query) if newline < 0 else newline
            continue
        if char in _CLOSERS:
            stack.append((char, position))
            if len(stack) > DEEPEST:
                return Wrong(f"more than {DEEPEST} brackets are open here", "nest less", position, position + 1)
        elif char in _PARTNERS:
            if not stack or stack[-1][0] != _PARTNERS[char]:
                open_one = f"`{stack[-1][0]}` is open there" if stack else "nothing is open there"
                return Wrong(
                    f"the `{char}` at character {position + 1} closes nothing: {open_one}",
                    "balance the brackets",
                    position,
                    position + 1,
                )
            stack.pop()
        content = content or not char.isspace()
        position += 1
    if stack:
        char, at = stack[-1]
        return Wrong(
            f"the `{char}` at character {at + 1} is never closed", f"close it with `{_CLOSERS[char]}`", at, at + 1
        )
    return None if content else Wrong("the query is empty", "write a PromQL expression", 0, len(query))


def _end_of_string(query: str, start: int) -> int | None:
    """The position after the string that begins at `start`, or None where it doesn't end."""
    quote = query[start]
    position = start + 1
    while position < len(query):
        if query[position] == "\\" and quote != "`":
            position += 2
            continue
        if query[position] == quote:
            return position + 1
        position += 1
    return None
