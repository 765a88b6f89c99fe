"""The programs that the embedded target builds for itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from itbc.stacks.toolchain import node_program, telemetry_program
from itbc.stacks.toolchain.telemetry import OF_SIGNAL


def prepare(cache: Path, signals: Collection[str], progress: Callable[[str], None]) -> None:
    """Have the Kubernetes program and the stores of some signals in the cache, where they aren't yet.

    Takes minutes then. Raises ToolchainError.
    """
    node_program(cache, progress)
    for signal in sorted(OF_SIGNAL.keys() & set(signals)):
        for name in OF_SIGNAL[signal]:
            telemetry_program(name, cache, progress)
