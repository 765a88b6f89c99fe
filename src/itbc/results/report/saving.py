"""Puts the page where its owner alone can read it, whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path


def save(page: str, path: Path) -> None:
    """Write the page, mode 0600, in place of what was there.

    Raises OSError, also where something else than a file or a link is there:
    root could replace a device, and nothing on the machine would find it then.
    """
    if not _is_replaceable(path):
        raise FileExistsError(errno.EEXIST, "it is there and is no regular file", str(path))
    # The name of the unfinished file is a new one, so that nobody can have put a link there.
    descriptor, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(page)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _is_replaceable(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
