"""The loop of the node's first process: children end, programs are due again, somebody asks for something."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any

from itbc.providers.embedded.supervisor.components import Components

_LONGEST_REQUEST = 1 << 20
_PATIENCE = 5.0


def serve(components: Components, listener: socket.socket) -> None:
    """Run until killed. A request is one line of JSON, and so is its answer: `{"ok": …}` or `{"error": …}`."""
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    # Python must have a handler for the wake-up to be written; what is to be done is done below.
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    _reap(components)
    with selectors.DefaultSelector() as selector:
        selector.register(wake_read, selectors.EVENT_READ)
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(components.start_due()):
                if key.fileobj is listener:
                    _answer(components, listener)
                else:
                    _drain(wake_read)
            _reap(components)


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 512):
            pass
    except BlockingIOError:
        return


def _reap(components: Components) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        components.ended(pid, status)


def _answer(components: Components, listener: socket.socket) -> None:
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        return
    with connection:
        # A silent caller may hold the loop up only so long; only root gets here at all.
        connection.settimeout(_PATIENCE)
        try:
            with connection.makefile("rb") as lines:
                request = json.loads(lines.readline(_LONGEST_REQUEST))
            answer: Mapping[str, Any] = {"ok": _do(components, request)}
        except (ValueError, KeyError, TypeError) as wrong:
            answer = {"error": f"{wrong}"}
        except OSError:
            return
        try:
            connection.sendall(json.dumps(answer).encode() + b"\n")
        except OSError:
            return


def _do(components: Components, request: Mapping[str, Any]) -> Any:
    actions: dict[str, Callable[[], Any]] = {
        "start": lambda: components.start(request["name"], [str(word) for word in request["command"]]),
        "stop": lambda: components.stop(request["name"]),
        "list": components.listed,
    }
    try:
        action = actions[request["do"]]
    except KeyError:
        raise ValueError(f"no such request: {request.get('do')!r}") from None
    return action()
