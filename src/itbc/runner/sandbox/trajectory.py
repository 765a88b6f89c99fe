"""Writes down what an agent runs: before each program, so that one that never ends is there too, and after it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from itbc.contracts.shape import read, write
from itbc.contracts.trajectory import Executed, Trajectory
from itbc.runner.sandbox.redaction import Redaction

FILE = "trajectory.json"
STDOUT = "stdout"
STDERR = "stderr"


@dataclass(frozen=True, slots=True)
class Following:
    """Follows an agent's programs. `output` is the folder of its streams, `began` its beginning on `monotonic`.

    `redaction` is done to command lines.
    """

    output: Path
    began: float
    monotonic: Callable[[], float]
    redaction: Redaction = field(default_factory=Redaction)

    @contextmanager
    def program(self, command: Sequence[str]) -> Generator[Callable[[int], None]]:
        """Write down one program that runs in the block, which calls what it is given with the exit code."""
        path = self.output / FILE
        earlier = read(path, Trajectory).commands if path.exists() else []
        start = self.monotonic()
        printed = self._printed()
        executed = Executed(
            command=[self.redaction.text(each) for each in command], at_seconds=round(start - self.began, 3)
        )
        write(path, Trajectory(commands=[*earlier, executed]))
        code: int | None = None

        def ended(with_code: int) -> None:
            nonlocal code
            code = with_code

        try:
            yield ended
        finally:
            stdout, stderr = (now - before for now, before in zip(self._printed(), printed, strict=True))
            done = msgspec.structs.replace(
                executed,
                seconds=None if code is None else round(self.monotonic() - start, 3),
                exit_code=code,
                stdout_bytes=stdout,
                stderr_bytes=stderr,
            )
            write(path, Trajectory(commands=[*earlier, done]))

    def _printed(self) -> tuple[int, int]:
        return _size(self.output / STDOUT), _size(self.output / STDERR)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
