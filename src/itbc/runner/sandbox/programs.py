"""Starts an agent's programs: own user, own process namespace, own view of the file system.

Whatever such a program starts ends with it, because the kernel ends a process
namespace with its first process; and that one ends with itbc, however itbc
ends. What lies in the scenario's folder is covered, /tmp is private.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from itbc.providers.services import Ledger
from itbc.runner.processes import identify
from itbc.runner.sandbox import entry
from itbc.runner.sandbox.view import Operation
from itbc.runner.waiting import Patience, TooLate

FIRST_USER = 1_900_000_000
"""Agents' user ids start here: above everything that distributions, containers and systemd hand out."""

USERS = 100_000
OUTPUT_LIMIT = 16 * 1024 * 1024
"""How much of each output stream is kept, in bytes; the rest is read and dropped."""

PROCESS_KIND = "agent-process"


class OutOfTime(Exception):  # noqa: N818 - the name is the fact
    """The program was ended because the agent's time was over."""


class NoSandbox(Exception):  # noqa: N818 - the name is the fact
    """The namespaces can't be made here. The message says why."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. `output` is what it printed, cut at the limit."""

    code: int
    output: bytes


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What an agent's programs see.

    `view` is what is covered and exposed of the file system, `environment` the
    whole environment, `groups` the cgroups that they are in.
    """

    run: str
    user: int
    folder: Path
    environment: Mapping[str, str]
    view: Sequence[Operation]
    ledger: Ledger
    groups: Sequence[Path] = ()

    def execute(
        self,
        command: Sequence[str],
        outputs: tuple[Path, Path],
        patience: Patience,
        *,
        deadline: float,
        stdin: bytes = b"",
        more: Mapping[str, str] | None = None,
    ) -> Ended:
        """Run a program to its end; `outputs` are the files that its stdout and stderr are appended to.

        Raises OutOfTime at the deadline (of `patience`'s clock), Interrupted
        when the user wants to stop, NoSandbox when it can't be started.
        """
        process = self._start(command, more or {})
        try:
            return self._attend(process, outputs, patience, deadline, stdin)
        finally:
            process.kill()
            process.wait()
            self.ledger.gone(PROCESS_KIND, f"{self.run}/{process.pid}")

    def _start(self, command: Sequence[str], more: Mapping[str, str]) -> subprocess.Popen[bytes]:
        reading, writing = os.pipe()
        ready, told = os.pipe()
        try:
            process = subprocess.Popen(
                [
                    "setpriv",
                    "--pdeathsig",
                    "KILL",
                    "unshare",
                    "--mount",
                    "--ipc",
                    "--pid",
                    "--fork",
                    "--mount-proc",
                    "--kill-child=KILL",
                    sys.executable,
                    "-I",
                    "-S",
                    str(Path(entry.__file__)),
                    str(reading),
                    str(told),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[reading, told],
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                start_new_session=True,
            )
        except OSError as wrong:
            os.close(writing)
            os.close(ready)
            raise NoSandbox(f"can't start setpriv (package util-linux): {wrong.strerror}") from wrong
        finally:
            os.close(reading)
            os.close(told)
        found = identify(process.pid)
        if found is not None:
            identity = f"{self.run}/{process.pid}"
            self.ledger.intent(PROCESS_KIND, identity, {"pid": found.pid, "started": found.started})
        specification = json.dumps(self._specification(command, more)).encode()
        with os.fdopen(writing, "wb") as pipe, contextlib.suppress(BrokenPipeError):
            pipe.write(specification)
        with os.fdopen(ready, "rb") as pipe:
            # No more than that: unshare holds the other end too, until the agent's end.
            arranged = pipe.read(len(entry.READY)) == entry.READY
        if not arranged:
            said = process.communicate()[1].decode(errors="replace").strip().splitlines()
            self.ledger.gone(PROCESS_KIND, f"{self.run}/{process.pid}")
            raise NoSandbox(f"can't make the agent's namespaces: {said[-1] if said else 'no reason given'}")
        return process

    def _specification(self, command: Sequence[str], more: Mapping[str, str]) -> dict[str, object]:
        return {
            "command": list(command),
            "environment": {**self.environment, **more},
            "folder": str(self.folder),
            "groups": [str(group) for group in self.groups],
            "user": self.user,
            "view": [
                {"what": each.what, "target": str(each.target), "source": str(each.source or ""), "mode": each.mode}
                for each in self.view
            ],
        }

    def _attend(
        self,
        process: subprocess.Popen[bytes],
        outputs: tuple[Path, Path],
        patience: Patience,
        deadline: float,
        stdin: bytes,
    ) -> Ended:
        streams = _Streams(process, outputs, stdin)

        def probe() -> int | None:
            return process.poll()

        try:
            code = patience.until(probe, max(0.0, deadline - patience.monotonic()), every=0.1)
        except TooLate as late:
            raise OutOfTime from late
        finally:
            process.kill()
            process.wait()
            kept = streams.close()
        return Ended(code, kept)


class _Streams:
    """Feeds a process and keeps what it prints, up to the limit."""

    def __init__(self, process: subprocess.Popen[bytes], outputs: tuple[Path, Path], stdin: bytes) -> None:
        self._kept: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True),
            threading.Thread(target=_keep, args=(process.stdout, outputs[0], self._kept), daemon=True),
            threading.Thread(target=_keep, args=(process.stderr, outputs[1], None), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> bytes:
        """Wait for the end of all streams. Returns what was printed to stdout."""
        for thread in self._threads:
            thread.join()
        parts: list[bytes] = []
        while not self._kept.empty():
            parts.append(self._kept.get())
        return b"".join(parts)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:
        # A program needn't read what it is given.
        return


def _keep(pipe: IO[bytes], path: Path, kept: queue.SimpleQueue[bytes] | None) -> None:
    with pipe, path.open("ab") as file:
        room = OUTPUT_LIMIT - file.tell()
        while data := os.read(pipe.fileno(), 65536):
            part = data[: max(0, room)]
            if not part:
                continue
            room -= len(part)
            file.write(part)
            file.flush()
            if kept is not None:
                kept.put(part)


def user_of(run: str) -> int:
    """The user id of a run's agent: the same for the same run, and most likely no other run's."""
    return FIRST_USER + zlib.crc32(run.encode()) % USERS
