"""What every attempt is made with. An attempt says whether it got through, and what it saw."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Outcome = tuple[bool, str]
ATTEMPTS: dict[str, Callable[[dict[str, Any]], Outcome]] = {}


def attempt(way: Callable[[dict[str, Any]], Outcome]) -> Callable[[dict[str, Any]], Outcome]:
    """Add one way to the list, by its name."""
    ATTEMPTS[way.__name__.replace("_", "-")] = way
    return way


def look(*patterns: str) -> Outcome:
    """Read the first bytes of a file that one of the patterns finds."""
    said: list[str] = []
    for pattern in patterns:
        found = [path for path in sorted(Path("/").glob(pattern.lstrip("/"))) if not path.is_dir()]
        for path in found or [Path(pattern)]:
            try:
                with path.open("rb") as file:
                    return True, f"{path}: {file.read(40)!r}"
            except OSError as wrong:
                said.append(f"{path}: {wrong.strerror}")
    return False, "; ".join(said)


def connect(family: int, *addresses: Any) -> Outcome:
    """Connect to the first address that takes it."""
    said: list[str] = []
    for address in addresses:
        try:
            with socket.socket(family, socket.SOCK_STREAM) as one:
                one.settimeout(5)
                one.connect(address)
        except OSError as wrong:
            said.append(f"{address}: {wrong}")
        else:
            return True, f"{address}: connected"
    return False, "; ".join(said)


def call(*command: str, stdin: str = "") -> tuple[int, str]:
    """Run a program. Returns its exit code and all that it printed, at most the first of it."""
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as wrong:
        return 127, str(wrong)
    return done.returncode, (done.stdout + done.stderr).strip()[:2000]


def kubectl(*words: str, stdin: str = "") -> Outcome:
    """Whether a kubectl command succeeds."""
    code, said = call("kubectl", *words, stdin=stdin)
    return code == 0, said or f"exit code {code}"


def first(outcomes: Iterable[Outcome]) -> Outcome:
    """The first that got through; else all that was said."""
    said: list[str] = []
    for through, what in outcomes:
        if through:
            return True, what
        said.append(what)
    return False, "; ".join(said)
