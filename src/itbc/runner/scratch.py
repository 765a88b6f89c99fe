"""A private folder for as long as a process lives; what a killed one leaves is found by its name."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from itbc.runner.processes import ProcessIdentity, alive, own_identity


@contextmanager
def scratch(folder: Path, name: str) -> Generator[Path]:
    """A new folder (0700) in `folder` while the block runs. Raises FileExistsError for a name that is in use."""
    owner = own_identity()
    path = folder / f"{owner.pid}-{owner.started}-{name}"
    path.mkdir(mode=0o700)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def sweep_scratch(folder: Path) -> list[str]:
    """Remove what dead processes left. Returns the names of what was removed."""
    removed: list[str] = []
    for path in sorted(folder.iterdir()):
        pid, started, _ = path.name.split("-", 2)
        if not alive(ProcessIdentity(int(pid), int(started))):
            shutil.rmtree(path)
            removed.append(path.name)
    return removed
