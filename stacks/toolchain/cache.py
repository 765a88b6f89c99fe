"""Things that are made once and kept: keyed by what they are made from, made by one process at a time."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.running import EVERY_SECONDS, Progress

_LOOK_SECONDS = 0.2


def key_of(parts: Iterable[str], folder: Path, files: Iterable[Path]) -> str:
    """The SHA-256 in hex of some texts and of files with their paths in `folder`."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part.encode())}\n{part}".encode())
    for file in sorted(files):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()}\n{len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def made_once(target: Path, make: Callable[[Path], None], progress: Progress) -> Path:
    """Return `target`, a file or folder of the cache; if it isn't there, have it made.

    `make` gets the path to make it at, beside the target; only what is whole is
    renamed to the target, so a killed process leaves nothing that looks like it.
    One process makes it, the others wait. Raises ToolchainError when the cache
    can't be written to.
    """
    if target.exists():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target, progress):
            if not target.exists():
                part = target.with_name(f"{target.name}.part")
                _remove(part)
                try:
                    make(part)
                    _settle(part, target)
                finally:
                    _remove(part)
    except OSError as wrong:
        raise ToolchainError(
            f"the cache can't be written to: {wrong}",
            "run as a user who may write there, or set ITBC_CACHE to a folder you can write to",
        ) from wrong
    return target


@contextmanager
def _alone(target: Path, progress: Progress) -> Generator[None, None, None]:
    """Hold the lock of a target; it goes away with the process that holds it, however that ends."""
    with target.with_name(f"{target.name}.lock").open("w") as lock:
        waiting_since = time.monotonic()
        told = 0.0
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waited = time.monotonic() - waiting_since
                if waited >= told:
                    progress(f"another process is making {target.name}; waiting ({waited:.0f} s)")
                    told = waited + EVERY_SECONDS
                time.sleep(_LOOK_SECONDS)
        yield


def _settle(part: Path, target: Path) -> None:
    if part.is_file():
        descriptor = os.open(part, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    part.replace(target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
