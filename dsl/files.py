"""Finding `.itb` files: those of a folder, and those that hold a scenario."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink
from itbc.dsl.loading import printable
from itbc.dsl.parsing import parse
from itbc.dsl.source import SourceFile, Span
from itbc.dsl.syntax import Block

SUFFIX = ".itb"


def itb_files(paths: Iterable[Path], sink: Sink) -> list[Path]:
    """The files themselves and all `.itb` files below the folders, in order, each once.

    Folders whose names begin with a dot are left out. A path that doesn't exist and a folder without such a file are
    reported.
    """
    found: dict[Path, None] = {}
    for path in paths:
        try:
            is_folder, exists = path.is_dir(), path.exists()
        except (OSError, ValueError):
            is_folder = exists = False
        if not exists:
            sink.report(codes.FILE_MISSING, _at(path), "there is nothing at this path", help="check the path")
        elif not is_folder and not path.is_file():
            sink.report(codes.FILE_UNREADABLE, _at(path), "this isn't a regular file", help="name a regular file")
        elif not is_folder:
            found.setdefault(path)
        else:
            below = sorted(file for file in path.rglob(f"*{SUFFIX}") if file.is_file() and not _hidden(file, path))
            found.update(dict.fromkeys(below))
            if not below:
                sink.report(
                    codes.NOTHING_TO_CHECK,
                    _at(path),
                    "no file below this folder ends with `.itb`",
                    help="name another folder",
                )
    return list(found)


def scenario_files(path: Path, sink: Sink) -> list[Path]:
    """The file itself, or all files below a folder that hold a scenario. Reports where there is none."""
    if not path.is_dir():
        return itb_files([path], sink)
    before = sink.errors
    found = [file for file in itb_files([path], sink) if holds_scenario(file)]
    if not found and sink.errors == before:
        sink.report(
            codes.NO_SCENARIO,
            _at(path),
            "no file below this folder holds a scenario",
            help="name the scenario's file or folder",
        )
    return found


def holds_scenario(file: Path) -> bool:
    """Whether a file has a `scenario` block, going by its syntax alone."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    tree = parse(SourceFile(str(file), text), Sink())
    return any(isinstance(item, Block) and item.type.text == "scenario" for item in tree.body.items)


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(root).parts[:-1])


def _at(path: Path) -> Span:
    return Span(SourceFile(printable(str(path)), ""), 0, 0)
