"""Axes: from values to places on a drawing, and where the round values lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

_ROUND_SECONDS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
_LARGEST, _SMALLEST = 1e300, 1e-300
"""Beyond these, arithmetic with floating point numbers gives infinity or nothing."""

IDLE_SECONDS = 120.0
"""A run that was left standing: nothing happened for longer than that."""
IDLE_WIDTH = 10.0
"""As how many seconds such a stretch is drawn."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis: per cent along it, or pixels from the top."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class TimeScale:
    """Per cent of a drawing's width for moments between `begin` and `end`.

    `idle` are stretches in which nothing happened; they are drawn much shorter.
    """

    begin: float
    end: float
    origin: float
    idle: Sequence[tuple[float, float]] = field(default=())

    @property
    def drawn_seconds(self) -> float:
        """The whole length with idle stretches shortened; never 0."""
        return max(self._drawn(self.end), 1e-3)

    def at(self, moment: float) -> float:
        """Where a moment is, 0 to 100; what is outside is at the edge."""
        inside = min(max(moment, self.begin), self.end)
        return round(100 * self._drawn(inside) / self.drawn_seconds, 3)

    def holds(self, moment: float) -> bool:
        """Whether a moment is on the drawing."""
        return self.begin <= moment <= self.end

    def ticks(self, most: int = 6) -> list[Tick]:
        """Round times since the origin, at most so many and a few more."""
        step = next((each for each in _ROUND_SECONDS if self.drawn_seconds / each <= most), None)
        step = step or 86400 * math.ceil(self.drawn_seconds / most / 86400)
        found: list[Tick] = []
        for start, end in self._lively():
            first = math.ceil((start - self.origin) / step - 1e-9)
            last = math.floor((end - self.origin) / step + 1e-9)
            found += [Tick(self.at(self.origin + n * step), clock(n * step)) for n in range(first, last + 1)]
        return found

    def _lively(self) -> list[tuple[float, float]]:
        edges = [self.begin, *(edge for stretch in self.idle for edge in stretch), self.end]
        return list(zip(edges[::2], edges[1::2], strict=True))

    def _drawn(self, moment: float) -> float:
        saved = sum(
            (min(moment, end) - start) * (1 - IDLE_WIDTH / (end - start)) for start, end in self.idle if moment > start
        )
        return moment - self.begin - saved


def idle_stretches(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The long stretches between spans in which nothing happened."""
    found: list[tuple[float, float]] = []
    until: float | None = None
    for start, end in sorted(spans):
        if until is not None and start - until > IDLE_SECONDS:
            found.append((until, start))
        until = end if until is None else max(until, end)
    return found


@dataclass(frozen=True, slots=True)
class ValueScale:
    """Pixels from the top of a drawing so many pixels high, for values; high values are at the top."""

    low: float
    high: float
    height: float

    def at(self, value: float) -> float:
        """Where a value is; what is outside is at the edge."""
        inside = min(max(value, self.low), self.high)
        return round(self.height * (self.high - inside) / (self.high - self.low), 2)

    def ticks(self) -> list[Tick]:
        """About four round values."""
        step = _round_step((self.high - self.low) / 4)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [Tick(self.at(n * step), number(n * step)) for n in range(first, last + 1)]


def value_scale(values: Sequence[float], height: float) -> ValueScale:
    """A scale that shows all these values and 0 with some room, more of it at the top."""
    low, high = max(min(0.0, *values), -_LARGEST), min(max(0.0, *values), _LARGEST)
    whole = high - low if high - low > _SMALLEST else 1.0
    return ValueScale(low - 0.06 * whole, high + 0.14 * whole, height)


def _round_step(rough: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(rough))
    return next(factor * magnitude for factor in (1, 2, 5, 10) if rough <= factor * magnitude * (1 + 1e-9))


def number(value: float) -> str:
    """A value with three digits that count."""
    return f"{value + 0.0:.3g}"


def clock(seconds: float) -> str:
    """Seconds since a beginning as a clock shows them: `0:05`, `12:30`, `1:02:03`."""
    whole = round(abs(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if seconds < 0 and whole else ""
    return f"{sign}{hours}:{minutes:02}:{rest:02}" if hours else f"{sign}{minutes}:{rest:02}"


def duration(seconds: float) -> str:
    """A length of time in words: `25 ms`, `0.8 s`, `45 s`, `2 min 5 s`, `1 h 3 min`."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
