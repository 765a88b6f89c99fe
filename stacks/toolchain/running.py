"""Runs a program that takes long and shows that it is alive."""

from __future__ import annotations

import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[str], None]
"""Takes one line for a person to read."""

EVERY_SECONDS = 4.0
"""How often a running program is reported on."""

TAIL_LINES = 20
_STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit code and the last lines it wrote."""

    code: int
    tail: tuple[str, ...]

    @property
    def reason(self) -> str:
        """The last lines as one text, for an error message."""
        return "\n".join(self.tail)


def run_long(
    command: Sequence[str],
    environ: Mapping[str, str],
    on_line: Callable[[str], None],
    on_tick: Callable[[float], None],
    *,
    folder: Path = Path("/"),
    every: float = EVERY_SECONDS,
    monotonic: Callable[[], float] = time.monotonic,
) -> Ended:
    """Run a command to its end.

    `on_line` gets each line it writes to either output, `on_tick` the seconds
    it has run, every few seconds. An exception, Ctrl-C included, interrupts
    the command and waits for it before it goes on. Raises OSError when the
    command can't be started.
    """
    process = subprocess.Popen(
        list(command),
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    arrived: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(process, arrived), name=f"reads {command[0]}", daemon=True)
    reader.start()
    started = monotonic()
    due = started + every
    try:
        while True:
            now = monotonic()
            if now >= due:
                on_tick(now - started)
                due = now + every
            try:
                line = arrived.get(timeout=max(0.05, due - now))
            except queue.Empty:
                continue
            if line is None:
                break
            tail.append(line)
            on_line(line)
    except BaseException:
        _interrupt(process)
        raise
    finally:
        reader.join()
        if process.stdout is not None:
            process.stdout.close()
    return Ended(process.wait(), tuple(tail))


def _read(process: subprocess.Popen[bytes], arrived: queue.SimpleQueue[str | None]) -> None:
    for line in process.stdout or ():
        arrived.put(line.decode(errors="replace").rstrip())
    arrived.put(None)


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
