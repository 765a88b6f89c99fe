"""`itbc check`: every mistake of scenario files and of everything they import."""

from __future__ import annotations

from pathlib import Path

import click

from itbc.cli import assembly
from itbc.cli.reporting import Form, report
from itbc.dsl.checking import Checked, check_file
from itbc.dsl.diagnostics import Sink
from itbc.dsl.entries import Entry
from itbc.dsl.files import itb_files
from itbc.dsl.loading import printable
from itbc.dsl.model import Scenario


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print."
)
def command(paths: tuple[Path, ...], form: Form) -> int:
    """Check scenario files and everything they import.

    PATHS are files, or folders that are searched for .itb files. Every mistake is reported, with its place and a
    remedy. Exit code 1 where there are errors.

    Example: itbc check scenarios
    """
    sink = Sink()
    catalogue = assembly.catalogue()
    lines: list[str] = []
    for file in itb_files(paths, sink):
        checked = check_file(file, catalogue, sink)
        if not checked.errors:
            lines.append(f"{printable(str(file))}: {described(checked)}")
    code = report(sink, form=form, to_stderr=False, checked=lines)
    if form == "text":
        for line in lines:
            click.echo(f"{click.style('ok', fg='green')}  {line}")
    return code


def described(checked: Checked) -> str:
    """One line about a file without errors."""
    if checked.scenario is not None:
        return _scenario(checked.scenario)
    return _library(checked.file.entry) if checked.file is not None else ""


def _scenario(scenario: Scenario) -> str:
    clusters = scenario.environment.clusters
    objects = sum(len(application.objects) for cluster in clusters for application in cluster.applications)
    rules = sum(len(cluster.alerts) for cluster in clusters)
    parts = [
        _count(len(clusters), "cluster"),
        _count(objects, "object"),
        _count(rules, "alerting rule"),
        _count(len(scenario.faults), "fault"),
        _count(len(scenario.triggers), "expected alert"),
        _count(len(scenario.desired.objectives), "objective"),
        _count(len(scenario.desired.safeguards), "safeguard"),
        _count(len(scenario.truth.root_causes), "root cause"),
    ]
    chain = " → ".join(scenario.truth.chain)
    return f"scenario {scenario.name}: {', '.join(parts)}, chain {chain}"


def _library(entry: Entry) -> str:
    kinds = {
        "application": "application", "alert": "alert", "slo": "SLO", "control": "control", "corpus": "corpus",
        "price_sheet": "price sheet",
    }  # fmt: skip
    parts = [_count(len(entry.children(kind)), word) for kind, word in kinds.items() if entry.children(kind)]
    return f"library: {', '.join(parts) or 'nothing declared'}"


def _count(number: int, thing: str) -> str:
    plural = "corpora" if thing == "corpus" else f"{thing}s"
    return f"{number} {thing if number == 1 else plural}"
