"""What goes wrong while a program is found, built or installed."""

from __future__ import annotations


class ToolchainError(Exception):
    """A program that itbc needs can't be had. `message` says what failed and why, `remedy` what to do about it."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
