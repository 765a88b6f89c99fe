"""Reads what an agent handed in. Agents are many and sloppy: what can be understood is, the rest is said."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from itbc.contracts.answer import Answer, Cause

SIZE_LIMIT = 1024 * 1024


class Unreadable(Exception):  # noqa: N818 - the name is the fact
    """There is something where the answer belongs, but nothing to read. The message says why."""


def handed_in(path: Path) -> bytes | None:
    """What an agent handed in, if anything. Raises Unreadable.

    The file is the agent's: it must be a regular file of reasonable size, and a link is not followed.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as wrong:
        raise Unreadable(f"the answer can't be read: {wrong.strerror}") from wrong
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("the answer isn't a regular file")
        if status.st_size > SIZE_LIMIT:
            raise Unreadable(f"the answer is larger than {SIZE_LIMIT} bytes")
        return file.read(SIZE_LIMIT)


def parse_answer(data: bytes) -> tuple[Answer | None, str]:
    """An answer from bytes, leniently: a fenced block, unknown fields and `KIND/NAME` texts are understood."""
    text = _unfence(data.decode(errors="replace").strip().removeprefix("\ufeff"))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        return None, f"the answer isn't JSON: {wrong}"
    if not isinstance(found, dict):
        return None, "the answer isn't a JSON object"
    claims = found.get("root_causes")
    if not isinstance(claims, list):
        return None, "the answer has no list `root_causes`"
    causes: list[Cause] = []
    problems: list[str] = []
    for number, claim in enumerate(claims, start=1):
        cause = _cause(claim)
        if cause is None:
            problems.append(f"root cause {number} has no kind and name")
        else:
            causes.append(cause)
    explanation = found.get("explanation", "")
    answer = Answer(root_causes=causes, explanation=explanation if isinstance(explanation, str) else "")
    return answer, "; ".join(problems)


def _unfence(text: str) -> str:
    """What is between the lines of a Markdown code fence, where the whole text is one."""
    lines = text.splitlines()
    if len(lines) >= 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text


def _cause(claim: Any) -> Cause | None:
    if isinstance(claim, str):
        return _named(claim)
    if not isinstance(claim, dict):
        return None
    fields = {str(key).lower(): value.strip() for key, value in claim.items() if isinstance(value, str)}
    kind, name = fields.get("kind", ""), fields.get("name", "")
    if not kind and "/" in name:
        return _named(name)
    if not kind or not name:
        return None
    return Cause(kind=kind, name=name, namespace=fields.get("namespace", ""), cluster=fields.get("cluster", ""))


def _named(text: str) -> Cause | None:
    """A cause from `KIND/NAME` or `NAMESPACE/KIND/NAME`."""
    parts = [part.strip() for part in text.split("/")]
    if len(parts) not in (2, 3) or not all(parts):
        return None
    namespace = parts[0] if len(parts) == 3 else ""
    return Cause(kind=parts[-2], name=parts[-1], namespace=namespace)
