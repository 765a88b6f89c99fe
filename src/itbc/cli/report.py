"""`itbc report`: a run as a page."""

from __future__ import annotations

import os
from pathlib import Path

import click

from itbc.cli.exits import Exit, ExitError
from itbc.cli.workshop import outside_failures
from itbc.results.report import render_page, save
from itbc.runner.home import Home
from itbc.runner.session import checked_name

PAGE = "report.html"


@click.command()
@click.argument("run")
@click.option(
    "-o", "out", type=click.Path(dir_okay=False, path_type=Path), help=f"Where to write it; otherwise RUN/{PAGE}."
)
def command(run: str, out: Path | None) -> int:
    """Write one HTML page about RUN, a run's name or folder: what happened when, what was wrong, how it was judged.

    The page needs no network and runs no script. It shows the scenario's truth, so only its owner can read it.

    Example: itbc report 20261201-101500-ab12 -o report.html
    """
    with outside_failures():
        folder = Path(run)
        if not (folder / "record.json").is_file():
            folder = Home.from_environment(os.environ).run(checked_name(run)).path
        page = render_page(folder)
    path = out or folder / PAGE
    try:
        save(page, path)
    except OSError as wrong:
        raise ExitError(Exit.USAGE, f"can't write {path}: {wrong.strerror}", "name another file with -o") from wrong
    click.echo(f"report: {path}")
    return Exit.FINE
