"""What is wrong with a PromQL expression, and where. Prometheus itself reads it later."""

from __future__ import annotations

from itbc.dsl import promql_grammar
from itbc.dsl.values import Wrong

_PARTNERS = {")": "(", "]": "[", "}": "{"}
_CLOSERS = {opener: closer for closer, opener in _PARTNERS.items()}


def problem(query: str) -> Wrong | None:
    """Why Prometheus wouldn't take an expression. None where it would."""
    # Brackets first: a grammar's message doesn't say which of them is too many.
    return _incomplete(query) or promql_grammar.problem(query)


def _incomplete(query: str) -> Wrong | None:
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
