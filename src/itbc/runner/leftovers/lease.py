"""A lease on a run: a file lock that the kernel drops when its holder dies, so that a reaper never takes a live run."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from itbc.runner.failures import StepFailed


class Lease:
    """The right to work on a run, held as long as this object is open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        """Give the lease back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        """Hold the lease for a block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it back."""
        self.close()


def lease_path(ledgers: Path, run: str) -> Path:
    """Where a run's lock file is."""
    return ledgers / f"{run}.lock"


def take(ledgers: Path, run: str) -> Lease | None:
    """Take the lease of a run; None where another process has it.

    The lock file may be removed by a reaper between opening and locking it:
    then the lock is on a file that nobody else can see, and is taken anew.
    """
    path = lease_path(ledgers, run)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        try:
            same = os.path.samestat(os.fstat(descriptor), path.stat())
        except FileNotFoundError:
            same = False
        if same:
            return Lease(descriptor)
        os.close(descriptor)


def take_or_fail(ledgers: Path, run: str) -> Lease:
    """Take the lease of a run. Raises StepFailed where another process works on it."""
    lease = take(ledgers, run)
    if lease is None:
        raise StepFailed(
            "environment",
            f"another itbc command works on run {run}",
            "wait until it has ended, or interrupt it with Ctrl-C",
        )
    return lease
