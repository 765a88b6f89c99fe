"""Asking a running node host's supervisor to start, stop or list programs."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.layout import Layout
from itbc.providers.services import ClusterPlace, ProgramsUnknown

_PATIENCE = 15.0


def start(layout: Layout, name: str, command: Sequence[str]) -> None:
    """Have a program started and kept running. Raises EmbeddedError, also where it runs with another command line."""
    _ask(layout, {"do": "start", "name": name, "command": list(command)})


def stop(layout: Layout, name: str) -> None:
    """Have a program ended. It may take a moment longer than this call."""
    _ask(layout, {"do": "stop", "name": name})


def listed(layout: Layout) -> list[dict[str, Any]]:
    """The programs: `name`, `pid` (inside; 0 for none right now), `restarts`."""
    answer: list[dict[str, Any]] = _ask(layout, {"do": "list"})
    return answer


def running(place: ClusterPlace) -> Mapping[str, str]:
    """Which process each of a cluster's programs is; empty between an end and a start. Raises ProgramsUnknown."""
    try:
        found = listed(Layout(place.state_dir / place.name))
    except EmbeddedError as wrong:
        raise ProgramsUnknown(str(wrong)) from wrong
    return {each["name"]: f"process {each['pid']}" if each["pid"] else "" for each in found}


def _ask(layout: Layout, request: dict[str, Any]) -> Any:
    try:
        folder = os.open(layout.control.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as wrong:
        raise EmbeddedError(f"the cluster's state folder {layout.folder} is gone") from wrong
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE)
            # By way of the folder's descriptor, since the path itself may exceed what an address holds.
            connection.connect(f"/proc/self/fd/{folder}/{layout.control.name}")
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as lines:
                answer = json.loads(lines.readline() or b'{"error": "the supervisor hung up"}')
    except (OSError, ValueError) as wrong:
        raise EmbeddedError(f"the cluster's supervisor can't be reached: {wrong}") from wrong
    finally:
        os.close(folder)
    if "error" in answer:
        raise EmbeddedError(f"the cluster's supervisor refused to {request['do']}: {answer['error']}")
    return answer["ok"]
