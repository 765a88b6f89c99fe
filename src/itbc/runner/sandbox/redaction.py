"""Keeps the values that a user lends to an agent out of everything that is kept of it: a name stands for each."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from itbc.contracts.shape import ShapeT, from_builtins, to_builtins

SHORTEST = 8
"""In characters. What is shorter is no secret, and would be found in every other word (`debug`, `eu-1`)."""

_TELLING = 4
"""How many first bytes of a value at the very end of a stream are taken for the value, cut off."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """What to put for what; `markers` are by the bytes that they replace."""

    markers: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])

    @staticmethod
    def of(variables: Mapping[str, str]) -> Redaction:
        """`[NAME]` for each value of at least SHORTEST characters, also as JSON, a URL or base64 write it."""
        return Redaction(
            {
                written: f"[{name}]".encode()
                for name, value in sorted(variables.items())
                if len(value) >= SHORTEST
                for written in _written(value)
            }
        )

    def data(self, data: bytes) -> bytes:
        """The bytes without any of the values."""
        stream = self.stream()
        return stream.feed(data) + stream.rest()

    def text(self, text: str) -> str:
        """The text without any of the values."""
        return self.data(text.encode(errors="surrogateescape")).decode(errors="surrogateescape")

    def shape(self, shape: ShapeT) -> ShapeT:
        """The data without any of the values in its texts."""
        if not self.markers:
            return shape
        return from_builtins(self._everywhere(to_builtins(shape)), type(shape), "what was redacted")

    def _everywhere(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self._everywhere(each) for key, each in value.items()}
        return [self._everywhere(each) for each in value] if isinstance(value, list) else value

    def stream(self) -> Stream:
        """A stream that has just begun."""
        return Stream(self.markers)


class Stream:
    """Redacts what comes in pieces. What may be the beginning of a value is held until more has come."""

    def __init__(self, markers: Mapping[bytes, bytes]) -> None:
        self._markers = markers
        longest_first = sorted(markers, key=len, reverse=True)
        self._values = re.compile(b"|".join(re.escape(each) for each in longest_first)) if markers else None
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What can be said now."""
        if self._values is None:
            return data
        data = self._held + data
        said, begin = [b""], 0
        held = self._unfinished(data)
        for found in self._values.finditer(data):
            if found.start() >= held:
                break
            said += data[begin : found.start()], self._markers[found[0]]
            begin = found.end()
        if begin > held:
            held = begin + self._unfinished(data[begin:])
        said.append(data[begin:held])
        self._held = data[held:]
        return b"".join(said)

    def rest(self) -> bytes:
        """What was held, at the end of the stream: the beginning of a value is the value, cut off."""
        held, self._held = self._held, b""
        if self._values is None:
            return held
        said = self._values.sub(lambda found: self._markers[found[0]], held)
        if said == held and len(held) >= _TELLING:
            return next((marker for value, marker in self._markers.items() if value.startswith(held)), held)
        return said

    def _unfinished(self, data: bytes) -> int:
        """Where the longest end of the data begins that a value begins with."""
        longest = max(
            (
                length
                for value in self._markers
                for length in range(min(len(value) - 1, len(data)), 0, -1)
                if data.endswith(value[:length])
            ),
            default=0,
        )
        return len(data) - longest


def _written(value: str) -> Iterator[bytes]:
    """The ways in which programs write a value down."""
    data = value.encode(errors="surrogateescape")
    yield data
    yield base64.b64encode(data).rstrip(b"=")
    yield quote(data, safe="").encode()
    yield quote(data).encode()
    for ascii_only in (False, True):
        text = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield text.encode(errors="surrogateescape")
        yield text.replace("/", "\\/").encode(errors="surrogateescape")
