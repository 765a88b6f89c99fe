"""Writing a cluster's files with the right mode from the first moment on."""

from __future__ import annotations

import os
from pathlib import Path


def write(path: Path, text: str | bytes, mode: int = 0o600) -> None:
    """Write a file, after making the folders that lack. Those are open (0755): the state folder above is closed."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    replace(path, text, mode)


def replace(path: Path, text: str | bytes, mode: int = 0o600) -> None:
    """Write a file so that a reader sees all or nothing, and nobody else sees a secret for a moment.

    Raises FileNotFoundError where its folder doesn't exist.
    """
    part = path.with_name(path.name + ".part")
    data = text.encode() if isinstance(text, str) else text
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    part.chmod(mode)
    part.replace(path)
