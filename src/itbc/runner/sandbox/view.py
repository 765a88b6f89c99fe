"""What an agent's user gets to see of the file system, as a list of mounts in its own namespace."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SHARED = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))  # noqa: S108 - covered, not used
"""Folders that anybody may write to; every agent has empty ones to itself."""

PRIVATE = (*SHARED, Path("/run"))
"""Folders that hold nothing that an agent needs. In /run are the sockets of services: of those no network keeps it."""

LOG = Path("/dev/kmsg")
"""The kernel's log, which tells of every cgroup that ran out of memory, by name."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One mount: `cover` a folder or file with an empty one, or `expose` what was at `source` at `target`.

    All sources are looked up before the first operation, so that what was
    covered can be exposed again.
    """

    what: Literal["cover", "expose"]
    target: Path
    source: Path | None = None
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Needs:
    """What an agent must be able to reach: its folders, its programs, and things at another place than their own."""

    folders: Sequence[Path]
    programs: Sequence[Path] = ()
    elsewhere: Sequence[tuple[Path, Path]] = ()


def view(needs: Needs, hidden: Sequence[Path] = (), secret: Sequence[Path] = ()) -> list[Operation]:
    """The mounts that show what is needed and not what is hidden.

    `hidden` is covered but for what is needed in it; a program there is shown
    with what lies beside it (modules, settings). `secret` is covered whatever
    is needed, but for the programs themselves. A folder on the way to what is
    needed that others may not enter is covered by an empty one that they may.
    """
    wanted = [*needs.folders, *needs.programs]
    closed = [found for path in wanted if (found := closed_ancestor(path)) is not None]
    covered = [*PRIVATE, LOG, *closed]
    shut = [*hidden, *secret]
    beside = [each.parent for each in needs.programs if _is_shown(each.parent, [*covered, *hidden], shut)]
    folders = list(dict.fromkeys([*needs.folders, *beside]))
    return [
        *(Operation("cover", path, mode="1777" if path in SHARED else "0755") for path in dict.fromkeys(covered)),
        *_shown(folders, covered),
        *(Operation("cover", path, mode="0711") for path in hidden),
        *_shown(folders, hidden),
        *(Operation("cover", path, mode="0711") for path in secret),
        *_shown(needs.programs, [*covered, *shut]),
        *(Operation("expose", target, source) for source, target in needs.elsewhere),
    ]


def closed_ancestor(path: Path) -> Path | None:
    """The topmost folder above a path that other users may not enter; None where all may be entered."""
    return next((parent for parent in reversed(path.parents) if not _is_open(parent)), None)


def _is_shown(folder: Path, covered: Iterable[Path], shut: Iterable[Path]) -> bool:
    """Whether a program's folder is shown: it lies in something covered, is open, and holds nothing hidden."""
    if any(each.is_relative_to(folder) for each in shut):
        return False
    return _is_open(folder) and any(folder != each and folder.is_relative_to(each) for each in covered)


def _shown(paths: Iterable[Path], covered: Sequence[Path]) -> Iterable[Operation]:
    """Show again what lies in something covered."""
    for path in paths:
        if any(path.is_relative_to(each) for each in covered):
            yield Operation("expose", path, path)


def _is_open(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)
