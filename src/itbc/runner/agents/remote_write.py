"""The body of a Prometheus remote write request: a protocol buffer, compressed as one block of snappy.

Both formats are public and small, and this is the whole part of them that is needed to hand in samples.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_LENGTH_DELIMITED = 2
_FIXED64 = 1
_VARINT = 0
_LITERAL = 65536


@dataclass(frozen=True, slots=True)
class Samples:
    """A series and its samples: Unix milliseconds and value, in time order."""

    labels: Mapping[str, str]
    samples: Iterable[tuple[int, float]]


def request(series: Iterable[Samples]) -> bytes:
    """The body that carries these series (`prometheus.WriteRequest`)."""
    return compress(b"".join(_field(1, _series(each)) for each in series))


def compress(data: bytes) -> bytes:
    """A snappy block that says what it says literally: valid, if not smaller."""
    parts = [_varint(len(data))]
    for start in range(0, len(data), _LITERAL):
        part = data[start : start + _LITERAL]
        # Tag 61 of a literal: the length less one follows in two bytes.
        parts += [bytes([61 << 2]), struct.pack("<H", len(part) - 1), part]
    return b"".join(parts)


def _series(series: Samples) -> bytes:
    labels = (_field(1, name.encode()) + _field(2, value.encode()) for name, value in sorted(series.labels.items()))
    samples = (
        _key(1, _FIXED64) + struct.pack("<d", value) + _key(2, _VARINT) + _varint(at) for at, value in series.samples
    )
    return b"".join([*(_field(1, each) for each in labels), *(_field(2, each) for each in samples)])


def _field(number: int, data: bytes) -> bytes:
    return _key(number, _LENGTH_DELIMITED) + _varint(len(data)) + data


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
