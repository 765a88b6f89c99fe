"""The program `itbc` as its users start it, with a home of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


class Itbc:
    """The program, with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {**os.environ, "ITBC_HOME": str(home)}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(Path(sys.executable).parent / "itbc"), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
            start_new_session=True,
        )

    def call(self, *arguments: str) -> tuple[int, str]:
        with self.start(*arguments) as process:
            said, _ = process.communicate(timeout=600)
        return process.returncode, said

    @property
    def run(self) -> Path:
        """The folder of the only run."""
        (found,) = (self.home / "runs").iterdir()
        return found

    def until_step(self, name: str, process: subprocess.Popen[str], seconds: float = 300.0) -> None:
        """Wait until a step has begun."""
        deadline = time.monotonic() + seconds
        while not list(self.home.glob(f"runs/*/steps/*-{name}.json")):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline, f"no step {name}"
            time.sleep(0.1)


@contextmanager
def at_home() -> Generator[Itbc]:
    """A home that nothing may be left in: whatever stands at the end is removed by `itbc gc`."""
    # Short, because sockets lie in it.
    home = Path(tempfile.mkdtemp(prefix="itbc-e2e-"))
    program = Itbc(home)
    try:
        yield program
    finally:
        code, said = program.call("gc")
        assert code == 0, said
        shutil.rmtree(home)
