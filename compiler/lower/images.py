"""The source of the images that are built on the target."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from itbc.compiler import codes
from itbc.compiler.plan import BuildImage, SourceEntry
from itbc.dsl.diagnostics import Sink
from itbc.dsl.model import Image

LIMIT_BYTES = 32 * 1024 * 1024
"""The most that an image's source may hold: it is source, and it is copied into every artefact folder."""


def read_image(image: Image, sink: Sink) -> BuildImage | None:
    """Read all files of an image's source that go into the program. None where something is wrong.

    What begins with a dot is left out, and so are tests, so that an image
    doesn't change with them.
    """
    errors = sink.errors
    entries: list[SourceEntry] = []
    size = 0
    for path in _files(image, sink):
        relative = path.relative_to(image.source).as_posix()
        if path.is_symlink() or not path.is_file():
            _report(image, sink, f"`{relative}` isn't an ordinary file", "put the file itself there instead of a link")
            continue
        try:
            data = path.read_bytes()
        except OSError as wrong:
            _report(image, sink, f"`{relative}` can't be read: {wrong.strerror}", "make it readable")
            continue
        size += len(data)
        if size > LIMIT_BYTES:
            limit = LIMIT_BYTES // (1024 * 1024)
            _report(
                image, sink, f"the source is larger than {limit} MiB", "leave built files and data out of the folder"
            )
            return None
        entries.append(SourceEntry(relative, data))
    if sink.errors > errors:
        return None
    if not entries:
        _report(image, sink, "the folder is empty", "point `source` at the folder of the main package")
        return None
    return BuildImage(image.name, image.reference, tuple(entries), _digest(entries), image.span)


def _files(image: Image, sink: Sink) -> list[Path]:
    def unreadable(wrong: OSError) -> None:
        _report(image, sink, f"`{wrong.filename}` can't be listed: {wrong.strerror}", "make it readable")

    found: list[Path] = []
    for folder, folders, names in os.walk(image.source, onerror=unreadable):
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [name for name in folders if not name.startswith(".") and name not in links]
        found.extend(here / name for name in [*names, *links] if not _left_out(name))
    return sorted(found, key=lambda path: path.relative_to(image.source).as_posix())


def _left_out(name: str) -> bool:
    return name.startswith(".") or name.endswith("_test.go")


def _digest(entries: list[SourceEntry]) -> str:
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(f"{entry.path}\0{hashlib.sha256(entry.data).hexdigest()}\n".encode())
    return digest.hexdigest()


def _report(image: Image, sink: Sink, message: str, advice: str) -> None:
    sink.report(codes.IMAGE_FILE, image.span, f"image `{image.name}`: {message}", help=advice)
