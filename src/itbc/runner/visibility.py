"""What must be made visible to an agent's user, and what must be covered for that."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PRIVATE = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path("/run/user"))  # noqa: S108 - covered, not used
"""Folders that every agent has empty and to itself."""


@dataclass(frozen=True, slots=True)
class View:
    """Folders to cover with empty ones, then paths to make visible again where they were (or elsewhere)."""

    covered: tuple[Path, ...]
    exposed: tuple[tuple[Path, Path], ...]


def view(programs: Sequence[Path], folders: Sequence[Path], elsewhere: Sequence[tuple[Path, Path]]) -> View:
    """A view in which programs and folders can be reached, wherever they lie.

    A folder on the way that other users may not enter is covered by an empty
    one that they may. A program is visible with what lies beside it (modules,
    settings) where its folder is open to others, else by itself.
    """
    covered: dict[Path, None] = dict.fromkeys(PRIVATE)
    exposed: dict[Path, None] = {}
    for path in [*folders, *programs]:
        closed = closed_ancestor(path)
        if closed is not None:
            covered[closed] = None
    for folder in folders:
        exposed[folder] = None
    for program in programs:
        parent = program.parent
        if any(parent != each and parent.is_relative_to(each) for each in covered) and _is_open(parent):
            exposed[parent] = None
    for program in programs:
        exposed[program] = None
    return View(tuple(covered), (*((path, path) for path in exposed), *elsewhere))


def closed_ancestor(path: Path) -> Path | None:
    """The topmost folder above a path that other users may not enter; None where all may be entered."""
    return next((parent for parent in reversed(path.parents) if not _is_open(parent)), None)


def _is_open(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)
