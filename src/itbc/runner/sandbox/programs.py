"""Starts an agent's programs: own user, own processes, own network, own view of the file system.

Whatever such a program starts ends with it, because the kernel ends a process
namespace with its first process; and that one ends with itbc, however itbc
ends. What lies in the scenario's folder is covered, /tmp is private.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from itbc.providers.services import Ledger
from itbc.runner.processes import identify
from itbc.runner.sandbox import entry
from itbc.runner.sandbox.network import Network
from itbc.runner.sandbox.redaction import Redaction
from itbc.runner.sandbox.relay import Relay
from itbc.runner.sandbox.streams import Streams
from itbc.runner.sandbox.syscalls import NUMBERS, refusing
from itbc.runner.sandbox.view import Operation
from itbc.runner.waiting import Patience, TooLate

FIRST_USER = 1_900_000_000
"""Agents' user ids start here: above everything that distributions, containers and systemd hand out."""

USERS = 100_000
PROCESS_KIND = "agent-process"

_NAMESPACES = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--ipc", "--net", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"),
)
"""What an agent's programs are started by: all ends with itbc, however itbc ends."""


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
    whole environment, `groups` the cgroups that they are in, `network` all that
    they reach of it. `redaction` is done to everything that is kept of them.
    """

    run: str
    user: int
    folder: Path
    environment: Mapping[str, str]
    view: Sequence[Operation]
    ledger: Ledger
    groups: Sequence[Path] = ()
    network: Network = field(default_factory=Network)
    redaction: Redaction = field(default_factory=Redaction)

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
        process, listeners = self._start(command, more or {})
        try:
            with Relay(listeners, self.network.passages):
                return self._attend(process, outputs, patience, deadline, stdin)
        finally:
            process.kill()
            process.wait()
            self.ledger.gone(PROCESS_KIND, f"{self.run}/{process.pid}")

    def _start(
        self, command: Sequence[str], more: Mapping[str, str]
    ) -> tuple[subprocess.Popen[bytes], list[socket.socket]]:
        """The process, and the listening sockets of the passages, which were made in its network."""
        specification = json.dumps(self._specification(command, more)).encode()
        reading, writing = os.pipe()
        here, there = socket.socketpair()
        with here:
            try:
                process = subprocess.Popen(
                    [
                        *_NAMESPACES,
                        sys.executable,
                        "-I",
                        "-S",
                        str(Path(entry.__file__)),
                        str(reading),
                        str(there.fileno()),
                    ],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=[reading, there.fileno()],
                    env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                    start_new_session=True,
                )
            except OSError as wrong:
                os.close(writing)
                raise NoSandbox(f"can't start setpriv (package util-linux): {wrong.strerror}") from wrong
            finally:
                os.close(reading)
                there.close()
            found = identify(process.pid)
            if found is not None:
                identity = f"{self.run}/{process.pid}"
                self.ledger.intent(PROCESS_KIND, identity, {"pid": found.pid, "started": found.started})
            with os.fdopen(writing, "wb") as pipe, contextlib.suppress(BrokenPipeError):
                pipe.write(specification)
            # One message: unshare holds the other end too, until the agent's end, so there is no end to read to.
            said, descriptors, _, _ = socket.recv_fds(here, len(entry.READY), len(self.network.passages))
        if said != entry.READY:
            error = process.communicate()[1].decode(errors="replace").strip().splitlines()
            self.ledger.gone(PROCESS_KIND, f"{self.run}/{process.pid}")
            raise NoSandbox(f"can't make the agent's namespaces: {error[-1] if error else 'no reason given'}")
        return process, [socket.socket(fileno=each) for each in descriptors]

    def _specification(self, command: Sequence[str], more: Mapping[str, str]) -> dict[str, object]:
        machine = os.uname().machine
        numbers = NUMBERS.get(machine)
        if numbers is None:
            raise NoSandbox(f"no agent can be kept in on a machine of this kind ({machine})")
        return {
            "command": list(command),
            "environment": {**self.environment, **more},
            "filter": refusing(numbers).hex(),
            "folder": str(self.folder),
            "groups": [str(group) for group in self.groups],
            "keyctl": numbers.keyctl,
            "listen": [[each.inside, each.port] for each in self.network.passages],
            "names": dict(self.network.names),
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
        streams = Streams(process, outputs, stdin, self.redaction)

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


def user_of(run: str) -> int:
    """The user id of a run's agent: the same for the same run, and most likely no other run's."""
    return FIRST_USER + zlib.crc32(run.encode()) % USERS
