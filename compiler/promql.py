"""Writing PromQL."""

from __future__ import annotations

from collections.abc import Mapping


def matchers(equal: Mapping[str, str], matching: Mapping[str, str] | None = None) -> str:
    """Label matchers in braces: exact ones, then regular expressions, each sorted by label."""
    exact = [f"{label}={quoted(value)}" for label, value in sorted(equal.items())]
    patterns = [f"{label}=~{quoted(value)}" for label, value in sorted((matching or {}).items())]
    return "{" + ",".join(exact + patterns) + "}"


def quoted(text: str) -> str:
    """A string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def duration(seconds: float) -> str:
    """A duration in Prometheus' notation, exact to the millisecond."""
    milliseconds = round(seconds * 1000)
    if milliseconds == 0:
        return "0s"
    parts: list[str] = []
    for unit, length in (("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, length)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)
