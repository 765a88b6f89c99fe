"""Writing an artefact folder: whole or not at all, and over nothing but an artefact folder."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path

from itbc.contracts import schemas
from itbc.contracts.manifest import Manifest
from itbc.contracts.shape import ContractError, read

MANIFEST = "manifest.json"


class FolderError(Exception):
    """The artefact folder can't be written. `remedy` says what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of each file."""
    return {path: hashlib.sha256(data).hexdigest() for path, data in sorted(files.items())}


def write_folder(out: Path, files: Mapping[str, bytes], manifest: Manifest) -> None:
    """Write all files and the manifest to a new folder beside `out` and put that in its place.

    Only its owner may look into it, as it holds the truth and the solution.
    Raises FolderError where `out` is something else than an artefact folder, or
    can't be written.
    """
    out = out.absolute()
    _check_replaceable(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as beside:
            new = Path(beside) / "new"
            _fill(new, {**files, MANIFEST: schemas.checked("manifest", manifest)})
            if out.exists():
                out.rename(Path(beside) / "old")
            new.rename(out)
    except OSError as wrong:
        raise FolderError(
            f"can't write {out}: {wrong.strerror}", "choose another folder with -o, or make room"
        ) from wrong


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(mode=0o700)
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _check_replaceable(out: Path) -> None:
    """Refuse what isn't ours to remove: another folder, or an artefact folder that somebody has worked in."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise FolderError(f"{out} isn't a folder", "choose another one with -o")
    if not out.exists():
        return
    try:
        if not any(out.iterdir()):
            return
    except OSError as wrong:
        raise FolderError(f"can't look into {out}: {wrong.strerror}", "choose another folder with -o") from wrong
    # The manifest comes first: a folder that isn't ours may be the whole file system.
    try:
        known = read(out / MANIFEST, Manifest)
    except ContractError:
        raise FolderError(f"{out} holds something else than artefacts", "choose another folder with -o") from None
    found = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_symlink() or not path.is_dir()}
    foreign = sorted(found - set(known.files) - {MANIFEST})
    if foreign:
        names = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else "")
        raise FolderError(
            f"{out} holds files that aren't artefacts: {names}",
            "if something was applied by hand from here, destroy it first; then remove them, or choose another folder",
        )


def copy_tree(source: Path) -> Mapping[str, bytes]:
    """The files of a folder of ours by relative path, without what Python leaves behind."""
    return {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
