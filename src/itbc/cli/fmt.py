"""`itbc fmt`: the one canonical layout."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import click

from itbc.cli.exits import Exit, ExitError
from itbc.cli.reporting import report
from itbc.dsl.diagnostics import Sink
from itbc.dsl.files import itb_files
from itbc.dsl.format import format_file
from itbc.dsl.loading import Loader, printable, read_text
from itbc.dsl.parsing import parse


@dataclass(frozen=True, slots=True)
class _Layout:
    """A file as it is and as it should be."""

    path: Path
    before: str
    after: str


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit code 1 where something would change.")
def command(paths: tuple[Path, ...], *, only_check: bool) -> int:
    """Rewrite .itb files in the one canonical layout, which is that of `terraform fmt`.

    PATHS are files, or folders that are searched for .itb files. Comments stay. Files with syntax errors aren't
    touched: their errors are reported, and the exit code is 1.

    Example: itbc fmt --check scenarios
    """
    sink = Sink()
    layouts = [layout for file in itb_files(paths, sink) if (layout := _layout(file, sink)) is not None]
    changed = [layout for layout in layouts if layout.before != layout.after]
    for layout in changed:
        if not only_check:
            _write(layout.path, layout.after)
        click.echo(f"{'would change' if only_check else 'changed'}  {printable(str(layout.path))}")
    code = report(sink)
    if only_check and changed:
        return Exit.FAILED
    return code


def _layout(file: Path, sink: Sink) -> _Layout | None:
    loader = Loader(sink, read_text, Path(os.path.abspath(file)).parent, str(file.parent))  # noqa: PTH100 - links aren't followed
    source = loader.text(Path(os.path.abspath(file)))  # noqa: PTH100 - links aren't followed
    if source is None:
        return None
    before = sink.errors
    tree = parse(source, sink)
    if sink.errors > before or tree.damaged:
        return None
    return _Layout(file, source.text, format_file(tree))


def _write(path: Path, text: str) -> None:
    """Replace a file in one step, with its permissions. Raises ExitError where that fails."""
    target = path.resolve()
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_bytes(text.encode())
        part.chmod(target.stat().st_mode & 0o7777)
        part.replace(target)
    except OSError as wrong:
        part.unlink(missing_ok=True)
        raise ExitError(
            Exit.OUTSIDE, f"{path} can't be written: {wrong.strerror}", "check its permissions and the disk"
        ) from wrong
