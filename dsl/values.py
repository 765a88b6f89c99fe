"""Durations and Kubernetes quantities: from the quoted text to a number, or to the reason why not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from itbc.dsl.diagnostics import nearest

DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
"""Seconds in each unit, shortest unit first."""

BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60}
DECIMAL = {"m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
"""The suffixes of Kubernetes quantities and their factors."""

_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-zµ]*)")
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)")
_DURATION_MISTAKES = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "min": "m",
    "mins": "m",
    "minute": "m",
    "minutes": "m",
    "hr": "h",
    "hrs": "h",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
    "msec": "ms",
    "millis": "ms",
    "milliseconds": "ms",
}
_QUANTITY_MISTAKES = {
    "b": "",
    "K": "k",
    "KB": "k",
    "KiB": "Ki",
    "MB": "M",
    "MiB": "Mi",
    "GB": "G",
    "GiB": "Gi",
    "TB": "T",
    "TiB": "Ti",
    "kb": "k",
    "mb": "M",
    "gb": "G",
    "gi": "Gi",
    "mi": "Mi",
    "ki": "Ki",
    "g": "G",
    "cores": "",
    "core": "",
    "cpu": "",
}
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why a text isn't what it should be.

    `start` and `end` are the part at fault; `better` is what to write instead.
    """

    message: str
    help: str
    start: int
    end: int
    better: str = ""


def duration(text: str) -> float | Wrong:
    """Seconds of a duration such as `45m`, `1h30m` or `500ms`."""
    forms = "write a number with a unit, longest unit first: `90s`, `45m`, `1h30m`, `500ms`"
    if not text or len(text) > _LONGEST:
        return Wrong("this isn't a duration", forms, 0, len(text))
    joined = "".join(text.split())
    if joined != text:
        inside = duration(joined)
        better = inside.better if isinstance(inside, Wrong) else joined
        return Wrong("a duration is written without spaces", forms, 0, len(text), better)
    total, position, smallest = 0.0, 0, float("inf")
    while position < len(text):
        part = _DURATION_PART.match(text, position)
        if part is None:
            sign = (
                "a duration can't be negative"
                if text[position] == "-"
                else f"`{text[position:]}` isn't a number with a unit"
            )
            return Wrong(sign, forms, position, len(text))
        number, unit = part.groups()
        if unit not in DURATION_UNITS:
            return _wrong_duration_unit(text, part, unit)
        factor = DURATION_UNITS[unit]
        if factor >= smallest:
            return Wrong(f"`{unit}` can't come here", "give each unit once, the longest first: `1h30m`", *part.span())
        smallest = factor
        total += float(number) * factor
        position = part.end()
    return round(total, 6)


def _wrong_duration_unit(text: str, part: re.Match[str], unit: str) -> Wrong:
    listing = "the units are `ms`, `s`, `m`, `h` and `d`"
    if not unit:
        better = f"{text}s" if part.group() == text else ""
        return Wrong(f"`{part.group()}` has no unit", listing, *part.span(), better)
    right = _DURATION_MISTAKES.get(unit.lower()) or (unit.lower() if unit.lower() in DURATION_UNITS else None)
    start, end = part.span(2)
    message = f"`{unit}` isn't a unit of time"
    if right is None and (unit in BINARY or unit in ("k", "M", "G")):
        message += "; it is one of size"
    return Wrong(message, listing, start, end, text[:start] + right + text[end:] if right else "")


def quantity(text: str, of: str) -> float | Wrong:
    """Bytes (`of` is `memory`) or cores (`cpu`) of a Kubernetes quantity such as `8Gi` or `500m`."""
    examples = "`512Mi`, `8Gi`, `1G`" if of == "memory" else "`500m`, `2`, `0.5`"
    forms = f"write it as Kubernetes does: {examples}"
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        message = "a quantity can't be negative" if text.startswith("-") else "this isn't a quantity"
        return Wrong(message, forms, 0, len(text))
    number, unit = match.groups()
    start, end = match.span(2)
    if of == "cpu" and unit not in ("", "m"):
        message = f"`{unit}` isn't a unit of CPU" + ("; it is one of time" if unit in ("s", "h", "ms", "d") else "")
        return Wrong(message, "CPU is given in cores or in thousandths with `m`: `500m` is half a core", start, end)
    if of == "memory" and unit == "m":
        return Wrong("`m` is a thousandth of a byte here", "for mebibytes write `Mi`", start, end, text[:start] + "Mi")
    if unit in DECIMAL or unit in BINARY:
        return float(number) * (DECIMAL.get(unit) or BINARY.get(unit) or 1.0)
    right = _QUANTITY_MISTAKES.get(unit)
    if right is None:
        right = nearest(unit, [suffix for suffix in (*BINARY, *DECIMAL) if suffix])
    message = f"`{unit}` isn't a unit of size" + ("; it is one of time" if unit in DURATION_UNITS else "")
    return Wrong(
        message,
        "the units are `Ki`, `Mi`, `Gi`, `Ti` (powers of 1024) and `k`, `M`, `G`, `T` (powers of 1000)",
        start,
        end,
        text[:start] + right + text[end:] if right is not None and unit not in DURATION_UNITS else "",
    )


def show_duration(seconds: float) -> str:
    """The shortest text of a duration."""
    if seconds == 0:
        return "0s"
    left = round(seconds * 1000)
    parts: list[str] = []
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def show_quantity(value: float, of: str) -> str:
    """A readable text of bytes or cores."""
    if of == "memory":
        for unit, size in reversed(BINARY.items()):
            if value >= size and value % size == 0:
                return f"{value / size:g}{unit}"
    return f"{value:g}"
