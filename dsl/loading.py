"""Reading files and following imports, each file once, with every problem of a file system turned into a diagnostic."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from itbc.dsl import codes
from itbc.dsl.diagnostics import Code, Sink
from itbc.dsl.entries import Entry
from itbc.dsl.parsing import parse
from itbc.dsl.source import SourceFile, Span
from itbc.dsl.structure import structure
from itbc.dsl.syntax import File

MAX_CHARACTERS = 1024 * 1024
"""Files with more characters than this aren't read."""

Read = Callable[[Path], str]
"""How text files are read; may raise OSError and UnicodeDecodeError."""


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, line ends as they are."""
    return path.read_bytes().decode("utf-8")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file that was read: where it is, its tree and what the structure check made of it."""

    path: Path
    source: SourceFile
    tree: File
    entry: Entry


def printable(name: str) -> str:
    """A file name that can be written as UTF-8, whatever bytes it has on the disk."""
    return name.encode("utf-8", "backslashreplace").decode()


class Loader:
    """Reads the files of one scenario. `root` is the folder of the scenario's own file."""

    def __init__(self, sink: Sink, read: Read, root: Path, shown_root: str) -> None:
        self._sink = sink
        self._read = read
        self._root = root
        self._shown_root = shown_root
        self._loaded: dict[Path, Loaded | None] = {}
        self.damaged = False

    def shown(self, path: Path) -> str:
        """How messages call a file: relative to where the user is, through the path they gave."""
        beside = Path(self._shown_root) / os.path.relpath(path, self._root)
        return printable(os.path.normpath(beside).replace(os.sep, "/"))

    def relative(self, path: Path) -> PurePosixPath:
        """How artefacts call a file: relative to the scenario's folder."""
        return PurePosixPath(os.path.relpath(path, self._root).replace(os.sep, "/"))

    def text(self, path: Path, place: Span | None = None) -> SourceFile | None:
        """Read any text file. Problems are reported at `place`, or at the file itself."""
        name = self.shown(path)
        nowhere = place or Span(SourceFile(name, "", self.relative(path)), 0, 0)
        try:
            text = self._read(path)
        except UnicodeDecodeError as wrong:
            line = wrong.object[: wrong.start].count(b"\n") + 1
            self._fail(
                codes.FILE_NOT_TEXT,
                nowhere,
                f"`{name}`, line {line}: byte 0x{wrong.object[wrong.start]:02x} isn't UTF-8",
                "save the file as UTF-8",
            )
            return None
        except FileNotFoundError:
            self._fail(codes.FILE_MISSING, nowhere, f"there is no `{name}`", "check the path")
            return None
        except (OSError, ValueError) as wrong:
            reason = wrong.strerror if isinstance(wrong, OSError) and wrong.strerror else str(wrong)
            self._fail(codes.FILE_UNREADABLE, nowhere, f"`{name}`: {reason}", "is it a readable file?")
            return None
        if len(text) > MAX_CHARACTERS:
            self._fail(
                codes.FILE_TOO_LARGE,
                nowhere,
                f"`{name}` has {len(text)} characters",
                f"at most {MAX_CHARACTERS} are read; split the file",
            )
            return None
        return SourceFile(name, text, self.relative(path))

    def _fail(self, code: Code, place: Span, message: str, remedy: str) -> None:
        self.damaged = True
        self._sink.report(code, place, message, help=remedy)

    def load(self, path: Path, place: Span | None = None) -> list[Loaded]:
        """A file and everything it imports, the imported ones first, each once. Cycles are reported."""
        order: list[Loaded] = []
        self._visit(path, place, [], order)
        return order

    def _visit(
        self, path: Path, place: Span | None, trail: list[tuple[Path, Span | None]], order: list[Loaded]
    ) -> None:
        if path in self._loaded:
            return
        self._loaded[path] = None
        source = self.text(path, place)
        if source is None:
            return
        tree = parse(source, self._sink)
        loaded = Loaded(path, source, tree, structure(tree, self._sink))
        lost = loaded.entry.damaged or not all(label.valid for block in loaded.entry.blocks for label in block.labels)
        self.damaged = self.damaged or lost
        self._loaded[path] = loaded
        self._imports(loaded, [*trail, (path, place)], order)
        order.append(loaded)

    def _imports(self, loaded: Loaded, trail: list[tuple[Path, Span | None]], order: list[Loaded]) -> None:
        seen: dict[Path, Span] = {}
        for entry in loaded.entry.children("import"):
            source = entry.value("source")
            if source is None:
                self.damaged = True
                continue
            target = resolved(loaded.path.parent, source.data)
            if target in seen:
                self._sink.report(
                    codes.REPEATED_IMPORT,
                    source.span,
                    "this file is already imported",
                    secondary=((seen[target], "here"),),
                    help="leave this import out",
                )
                continue
            seen[target] = source.span
            if any(step == target for step, _ in trail):
                self._cycle(target, source.span, trail)
                continue
            if not target.is_file() and self._missing(target):
                self.damaged = True
                self._sink.report(
                    codes.IMPORT_MISSING,
                    source.span,
                    f"there is no file `{self.shown(target)}`",
                    help="the path is relative to the file it is written in",
                )
                continue
            self._visit(target, source.span, trail, order)
            imported = self._loaded.get(target)
            if imported is not None:
                for scenario in imported.entry.children("scenario"):
                    self._sink.report(
                        codes.IMPORT_OF_SCENARIO,
                        source.span,
                        "this file holds a scenario",
                        secondary=((scenario.header, "here"),),
                        help="move what both need into a file without a scenario, and import that",
                    )

    def _cycle(self, target: Path, place: Span, trail: list[tuple[Path, Span | None]]) -> None:
        """Report a circle once, wherever it was entered: at the import of its first file by name."""
        steps = [step for step, _ in trail]
        circle = steps[steps.index(target) :]
        entrances = [place, *(entrance for _, entrance in trail[steps.index(target) + 1 :])]
        at = circle.index(min(circle))
        names = " → ".join(f"`{self.shown(step)}`" for step in [*circle[at:], *circle[: at + 1]])
        self._sink.report(
            codes.IMPORT_CYCLE,
            entrances[at] or place,
            "this closes the circle",
            notes=(names,),
            help="move what both need into a third file",
        )

    def _missing(self, path: Path) -> bool:
        """Whether a path can't be read by whatever reads files here (which may know files that aren't on the disk)."""
        try:
            self._read(path)
        except (OSError, ValueError):
            return not path.exists() or path.is_dir()
        return False


def resolved(folder: Path, relative: str) -> Path:
    """The absolute path of something named in a file of `folder`, without `..` and without following links."""
    return Path(os.path.normpath(folder / relative))
