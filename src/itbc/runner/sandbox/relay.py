"""Carries bytes between an agent's network and the addresses that it may reach.

The listening sockets were made inside the agent's network namespace; whoever
holds them accepts from there and connects from here. One thread does it all
and nothing of it waits for anybody: what can't be reached is answered by a
reset.
"""

from __future__ import annotations

import errno
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

from itbc.runner.sandbox.network import Passage

MOST_CONNECTIONS = 128
"""How many connections are carried at once; one more is reset."""

CONNECT_SECONDS = 10.0
"""How long an address may take to answer."""

SILENT_SECONDS = 300.0
"""How long a connection that the agent has ended may stay without a byte from the other end."""

_CHUNK = 256 * 1024
_TICK_SECONDS = 1.0
_RESET = struct.pack("ii", 1, 0)
_AGENT, _TARGET = 0, 1
_Mask = int


class _Connection:
    """A connection and its continuation: ends 0 (the agent's) and 1 (the target's), and what is on its way."""

    def __init__(self, accepted: socket.socket, targets: Iterator[tuple[str, int]], now: float) -> None:
        self.ends: list[socket.socket] = [accepted]
        self.targets = targets
        self.connected = False
        self.since = now
        """When a byte was last moved, or the target at hand first tried."""
        self.pending = [memoryview(b""), memoryview(b"")]
        """What was read from each end and couldn't be written to the other yet."""
        self.ended = [False, False]
        self.told = [False, False]
        """Whether the other end knows that this one has ended."""

    def wanted(self, end: int) -> _Mask:
        """What to wait for at an end."""
        if not self.connected:
            return selectors.EVENT_WRITE if end == _TARGET else 0
        mask = 0
        if not self.ended[end] and not self.pending[end]:
            mask |= selectors.EVENT_READ
        if self.pending[1 - end]:
            mask |= selectors.EVENT_WRITE
        return mask

    def move(self, end: int, now: float) -> None:
        """Read from an end what is there and write it to the other. Raises OSError where either is broken."""
        other = self.ends[1 - end]
        if not self.pending[end] and not self.ended[end]:
            try:
                data = self.ends[end].recv(_CHUNK)
            except BlockingIOError:
                return
            self.ended[end] = not data
            self.pending[end] = memoryview(data)
            self.since = now
        if self.pending[end]:
            try:
                self.pending[end] = self.pending[end][other.send(self.pending[end]) :]
            except BlockingIOError:
                return
            self.since = now
        if self.ended[end] and not self.pending[end] and not self.told[end]:
            other.shutdown(socket.SHUT_WR)
            self.told[end] = True

    @property
    def is_over(self) -> bool:
        """Whether both ends have said all and been told all."""
        return all(self.told)

    def is_lost(self, now: float) -> bool:
        """Whether nobody can be waiting for it any more."""
        if not self.connected:
            return now - self.since > CONNECT_SECONDS
        return self.ended[_AGENT] and now - self.since > SILENT_SECONDS


class Relay:
    """Carries while its block runs. `listeners` are the passages' sockets in their order; the end closes them."""

    def __init__(
        self,
        listeners: Sequence[socket.socket],
        passages: Sequence[Passage],
        *,
        most: int = MOST_CONNECTIONS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._passages = dict(zip(listeners, passages, strict=True))
        self._most = most
        self._monotonic = monotonic
        self._selector = selectors.DefaultSelector()
        self._connections: dict[_Connection, list[_Mask]] = {}
        """Each with what is waited for at its ends."""
        self._is_listening = False
        self._ear, self._mouth = socket.socketpair()
        self._thread = threading.Thread(target=self._carry, name="agent-network", daemon=True)

    def __enter__(self) -> Self:
        self._selector.register(self._ear, selectors.EVENT_READ)
        for listener in self._passages:
            listener.setblocking(False)
        self._listen()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._mouth.close()
        self._thread.join()
        for connection in list(self._connections):
            self._reset(connection)
        for each in (*self._passages, self._ear):
            each.close()
        self._selector.close()

    def _carry(self) -> None:
        while True:
            for key, _ in self._selector.select(_TICK_SECONDS):
                if key.fileobj is self._ear:
                    return
                if isinstance(key.fileobj, socket.socket) and key.fileobj in self._passages:
                    self._accept(key.fileobj)
                    continue
                connection, end = key.data
                # An earlier event of the same round may have ended it.
                if connection in self._connections:
                    self._serve(connection, end)
            now = self._monotonic()
            for connection in [each for each in self._connections if each.is_lost(now)]:
                self._serve(connection, None)
            self._listen()

    def _listen(self) -> None:
        if not self._is_listening:
            for listener in self._passages:
                self._selector.register(listener, selectors.EVENT_READ)
            self._is_listening = True

    def _accept(self, listener: socket.socket) -> None:
        if not self._is_listening:
            return
        try:
            accepted, _ = listener.accept()
        except OSError as wrong:
            if wrong.errno in {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}:
                # It would be ready again at once, so rest until the next round.
                for each in self._passages:
                    self._selector.unregister(each)
                self._is_listening = False
            return
        passage = self._passages[listener]
        connection = _Connection(accepted, iter([(each, passage.port) for each in passage.outside]), self._monotonic())
        self._connections[connection] = [0, 0]
        if len(self._connections) > self._most:
            self._reset(connection)
            return
        _prepare(accepted)
        self._try_next(connection)

    def _serve(self, connection: _Connection, end: int | None) -> None:
        """Go on with a connection of which an end is ready; None where its time is over."""
        try:
            if not connection.connected:
                error = errno.ETIMEDOUT
                if end is not None:
                    error = connection.ends[_TARGET].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if error:
                    self._try_next(connection)
                    return
                connection.connected = True
            elif end is None:
                self._reset(connection)
                return
            now = self._monotonic()
            connection.move(_AGENT, now)
            connection.move(_TARGET, now)
        except OSError:
            self._reset(connection)
            return
        if connection.is_over:
            self._end(connection)
        else:
            self._watch(connection)

    def _try_next(self, connection: _Connection) -> None:
        """Begin to connect to the next target; without one, the agent is told by a reset."""
        self._watch(connection, nothing=True)
        for each in connection.ends[1:]:
            each.close()
        del connection.ends[1:]
        for host, port in connection.targets:
            try:
                target = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
            except OSError:
                continue
            _prepare(target)
            if target.connect_ex((host, port)) in {0, errno.EINPROGRESS}:
                connection.ends.append(target)
                connection.since = self._monotonic()
                self._watch(connection)
                return
            target.close()
        self._reset(connection)

    def _watch(self, connection: _Connection, *, nothing: bool = False) -> None:
        """Wait for what the connection wants now."""
        masks = self._connections[connection]
        for end, each in enumerate(connection.ends):
            mask = 0 if nothing else connection.wanted(end)
            if mask == masks[end]:
                continue
            if not mask:
                self._selector.unregister(each)
            elif masks[end]:
                self._selector.modify(each, mask, (connection, end))
            else:
                self._selector.register(each, mask, (connection, end))
            masks[end] = mask

    def _reset(self, connection: _Connection) -> None:
        """End it so that both ends see that it has not ended well."""
        for each in connection.ends:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._end(connection)

    def _end(self, connection: _Connection) -> None:
        self._watch(connection, nothing=True)
        for each in connection.ends:
            each.close()
        del self._connections[connection]


def _prepare(each: socket.socket) -> None:
    each.setblocking(False)
    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    each.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
