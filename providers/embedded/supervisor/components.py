"""Keeping programs running: start, note the end, start again after a pause that grows."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

FIRST_PAUSE = 0.3
LONGEST_PAUSE = 10.0
STEADY = 30.0
"""Seconds a program must have run for its next end to count as the first one again."""

ENVIRONMENT = {
    # Go programs collect less often: a node lives for minutes, and starting is what it does most. A tenth less of its
    # processor time, for 80 MiB more.
    "GOGC": "400",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "PATH": "/opt/kubernetes:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "TMPDIR": "/tmp",  # noqa: S108 - the node's own
}


@dataclass(slots=True)
class Running:
    """A component as it stands. `pid` is 0 between an end and the next start; `wanted` is False once it was stopped."""

    name: str
    command: Sequence[str]
    pid: int = 0
    started: float = 0.0
    restarts: int = 0
    pause: float = FIRST_PAUSE
    due: float = 0.0
    wanted: bool = True


def _spawn(command: Sequence[str], log: str) -> int:
    out = (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), out, (os.POSIX_SPAWN_DUP2, 1, 2)]
    return os.posix_spawnp(
        command[0],
        list(command),
        ENVIRONMENT,
        file_actions=actions,
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE),
    )


class Components:
    """All components by name. Not for more than one thread."""

    def __init__(
        self,
        logs: str,
        *,
        spawn: Callable[[Sequence[str], str], int] = _spawn,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logs = logs
        self._spawn = spawn
        self._clock = clock
        self._all: dict[str, Running] = {}

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start a component and keep it running. One that runs with the same command line is left alone.

        Raises ValueError for one that runs with another command line.
        """
        known = self._all.get(name)
        if known and (known.wanted or known.pid):
            if list(known.command) != list(command) or not known.wanted:
                raise ValueError(f"{name} is running already, with another command line or on its way out")
            return
        self._all[name] = Running(name, list(command))
        self._launch(self._all[name])

    def stop(self, name: str) -> None:
        """Ask a component to end (SIGTERM) and don't start it again; nothing for one that isn't known."""
        known = self._all.get(name)
        if known is None:
            return
        known.wanted = False
        if not known.pid:
            del self._all[name]
            return
        with suppress(ProcessLookupError):
            os.kill(known.pid, signal.SIGTERM)

    def ended(self, pid: int, status: int) -> None:
        """Take note of the end of any child. Those that are no component were orphans, and are done with."""
        for known in self._all.values():
            if known.pid == pid:
                break
        else:
            return
        known.pid = 0
        if not known.wanted:
            del self._all[known.name]
            return
        now = self._clock()
        if now - known.started >= STEADY:
            known.pause = FIRST_PAUSE
        code = os.waitstatus_to_exitcode(status)
        _say(f"{known.name} ended with {code}; starts again in {known.pause:g} s")
        known.restarts += 1
        known.due = now + known.pause
        known.pause = min(known.pause * 2, LONGEST_PAUSE)

    def start_due(self) -> float | None:
        """Start again what is due. Seconds until the next one come back, None where there is none."""
        now = self._clock()
        for known in self._waiting():
            if known.due <= now:
                self._launch(known)
        times = [known.due - now for known in self._waiting()]
        return max(0.0, min(times)) if times else None

    def listed(self) -> list[Mapping[str, object]]:
        """Every component's name, process number in the node (0: none now) and number of restarts."""
        return [
            {"name": known.name, "pid": known.pid, "restarts": known.restarts}
            for known in sorted(self._all.values(), key=lambda each: each.name)
        ]

    def _waiting(self) -> list[Running]:
        return [known for known in self._all.values() if known.wanted and not known.pid]

    def _launch(self, known: Running) -> None:
        known.started = self._clock()
        try:
            known.pid = self._spawn(known.command, f"{self._logs}/{known.name}.log")
        except OSError as wrong:
            _say(f"{known.name} can't be started: {wrong}; tried again in {known.pause:g} s")
            known.due = known.started + known.pause
            known.pause = min(known.pause * 2, LONGEST_PAUSE)
            return
        _say(f"{known.name} started as {known.pid}")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
