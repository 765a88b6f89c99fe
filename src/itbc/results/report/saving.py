"""Puts the page where its owner alone can read it, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def save(page: str, path: Path) -> None:
    """Write the page, mode 0600, in place of what was there. Raises OSError."""
    # The name of the unfinished file is a new one, so that nobody can have put a link there.
    descriptor, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(page)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
