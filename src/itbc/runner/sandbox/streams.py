"""Feeds an agent's program and keeps what it prints, up to a limit and without what it was lent."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import IO

from itbc.runner.sandbox import redaction
from itbc.runner.sandbox.redaction import Redaction

OUTPUT_LIMIT = 16 * 1024 * 1024
"""How much of each output stream is kept, in bytes; the rest is read and dropped."""


class Streams:
    """The streams of one process; `outputs` are the files that its stdout and stderr are appended to."""

    def __init__(
        self, process: subprocess.Popen[bytes], outputs: tuple[Path, Path], stdin: bytes, values: Redaction
    ) -> None:
        self._kept: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._lost: list[OSError] = []
        self._threads = [
            threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True),
            threading.Thread(
                target=self._keep, args=(process.stdout, outputs[0], values.stream(), self._kept), daemon=True
            ),
            threading.Thread(target=self._keep, args=(process.stderr, outputs[1], values.stream(), None), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> bytes:
        """Wait for the end of all streams. Returns what was printed to stdout, as it is kept.

        Raises OSError where something that was printed couldn't be written.
        """
        for thread in self._threads:
            thread.join()
        if self._lost:
            raise self._lost[0]
        parts: list[bytes] = []
        while not self._kept.empty():
            parts.append(self._kept.get())
        return b"".join(parts)

    def _keep(
        self, pipe: IO[bytes], path: Path, values: redaction.Stream, kept: queue.SimpleQueue[bytes] | None
    ) -> None:
        with pipe:
            try:
                _append(pipe, path, values, kept)
            except OSError as wrong:
                self._lost.append(wrong)
                # The program must not be held up, or ended, by what goes wrong on our side.
                while os.read(pipe.fileno(), 65536):
                    pass


def _feed(pipe: IO[bytes], data: bytes) -> None:
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:
        # A program needn't read what it is given.
        return


def _append(pipe: IO[bytes], path: Path, values: redaction.Stream, kept: queue.SimpleQueue[bytes] | None) -> None:
    with path.open("ab") as file:
        room = OUTPUT_LIMIT - file.tell()
        is_open = True
        while is_open:
            data = os.read(pipe.fileno(), 65536)
            is_open = bool(data)
            part = (values.feed(data) if is_open else values.rest())[: max(0, room)]
            if not part:
                continue
            room -= len(part)
            file.write(part)
            file.flush()
            if kept is not None:
                kept.put(part)
