"""`itbc evaluate`: a score from files alone."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec
from rich.console import Console

from itbc.cli.exits import Exit, ExitError
from itbc.cli.workshop import outside_failures
from itbc.contracts.shape import write
from itbc.results.junit import to_junit
from itbc.results.records import load, rescore
from itbc.results.summary import render
from itbc.runner.home import Home
from itbc.runner.session import checked_name


@click.command()
@click.argument("run")
def command(run: str) -> int:
    """Score RUN, a run's name or folder, again from its files: nothing of its environment is needed.

    Exit code 0 where it passed, 1 where it didn't or its files are missing.

    Example: itbc evaluate 20261201-101500-ab12
    """
    with outside_failures():
        folder = Path(run)
        if not (folder / "record.json").is_file():
            folder = Home.from_environment(os.environ).run(checked_name(run)).path
        if (folder / "record.json").is_file() and not (folder / "evidence.json").exists():
            raise ExitError(
                Exit.FAILED,
                f"there is no evidence in {folder}: the run ended before its agent was judged",
                f"`itbc report {run}` shows how far it got; for a score, live the scenario again with `itbc run`",
            )
        score = rescore(folder)
        found = load(folder)
        record = msgspec.structs.replace(found.record, score=score)
        write(folder / "score.json", score)
        write(folder / "record.json", record)
        again = load(folder)
    (folder / "junit.xml").write_bytes(to_junit([again]))
    render(again, Console(highlight=False))
    return Exit.FINE if score.passed else Exit.FAILED
