"""Exit codes and the exceptions that lead to them."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The program's exit codes."""

    FINE = 0
    FAILED = 1
    USAGE = 2
    BUG = 3
    OUTSIDE = 4


class ExitError(Exception):
    """Ends the program with a code. `message` and `remedy` are printed to stderr where they aren't empty."""

    def __init__(self, code: Exit, message: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
