"""The programs that the embedded target builds for itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from itbc.stacks.toolchain import node_program


def prepare(cache: Path, progress: Callable[[str], None]) -> None:
    """Have the Kubernetes program in the cache, where it isn't yet. Takes minutes then. Raises ToolchainError."""
    node_program(cache, progress)
