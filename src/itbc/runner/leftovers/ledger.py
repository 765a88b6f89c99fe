"""The run's ledger: what it was about to create, what it created, and whose it is.

One JSON object a line, on disk (fsync) before the call returns, outside the
run's folder. A line that was cut short by a crash is the last one and is
ignored: what it announced had not begun.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from itbc.contracts.shape import Shape
from itbc.runner.processes import ProcessIdentity

Event = Literal["intent", "created", "gone", "held", "kept"]


class Line(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line. `intent`, `created` and `gone` are about a thing; `held` and `kept` about the run itself.

    `held`: the process `owner` works on the run, and the run is nobody's once that process is gone.
    `kept`: the run was left standing on purpose, until it expires.
    """

    event: Event
    kind: str
    id: str
    state: dict[str, Any] = {}
    owner: int
    owner_started: int
    expires: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A thing that may exist, and all a sweeper needs to remove it."""

    kind: str
    identity: str
    details: Mapping[str, Any]


class FileLedger:
    """The ledger of one run in `path`. Implements `providers.services.Ledger`; safe to use from several threads."""

    def __init__(self, path: Path, owner: ProcessIdentity, expires: str) -> None:
        self._path = path
        self._owner = owner
        self._expires = expires
        self._lock = threading.Lock()

    def intent(self, kind: str, identity: str, details: Mapping[str, Any]) -> None:
        """Say that a thing may exist from now on."""
        self._append("intent", kind, identity, details)

    def created(self, kind: str, identity: str) -> None:
        """Say that a thing exists."""
        self._append("created", kind, identity, {})

    def gone(self, kind: str, identity: str) -> None:
        """Say that a thing no longer exists."""
        self._append("gone", kind, identity, {})

    def held(self) -> None:
        """Say that this process works on the run."""
        self._append("held", "run", self._path.stem, {})

    def kept(self) -> None:
        """Say that the run is left standing on purpose until it expires."""
        self._append("kept", "run", self._path.stem, {})

    def _append(self, event: Event, kind: str, identity: str, details: Mapping[str, Any]) -> None:
        line = Line(
            event=event,
            kind=kind,
            id=identity,
            state=dict(details),
            owner=self._owner.pid,
            owner_started=self._owner.started,
            expires=self._expires,
        )
        data = msgspec.json.encode(line, order="deterministic") + b"\n"
        with self._lock:
            fresh = not self._path.exists()
            descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, _mend(descriptor) + data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if fresh:
                _sync_folder(self._path.parent)


def _mend(descriptor: int) -> bytes:
    """A newline where a crash cut the last line short, so that the next line stands by itself."""
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lines(path: Path) -> Iterator[Line]:
    """The whole lines of a ledger, in order. A missing ledger has none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for raw in data.split(b"\n"):
        try:
            yield msgspec.json.decode(raw, type=Line)
        except (msgspec.DecodeError, msgspec.ValidationError):
            continue


def leftovers(path: Path) -> list[Entry]:
    """What may still exist, the newest first: the order to remove it in."""
    standing: dict[tuple[str, str], Mapping[str, Any]] = {}
    for line in lines(path):
        key = (line.kind, line.id)
        if line.event == "intent":
            standing.pop(key, None)
            standing[key] = line.state
        elif line.event == "gone":
            standing.pop(key, None)
    return [Entry(kind, identity, details) for (kind, identity), details in reversed(standing.items())]


def ever(path: Path) -> list[Entry]:
    """All that was ever begun, gone or not, each thing once."""
    begun = {(line.kind, line.id): line.state for line in lines(path) if line.event == "intent"}
    return [Entry(kind, identity, details) for (kind, identity), details in begun.items()]


def holder(path: Path) -> Line | None:
    """The last line that says whose the run is."""
    last = None
    for line in lines(path):
        if line.event in ("held", "kept"):
            last = line
    return last
