"""`itbc compile`: a scenario into an artefact folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import click

from itbc.cli import assembly
from itbc.cli.exits import Exit, ExitError
from itbc.cli.reporting import report
from itbc.compiler import FolderError, SynthesisError, compile_scenario
from itbc.compiler.compilation import one_scenario_file
from itbc.compiler.lower import lower
from itbc.compiler.target import Target
from itbc.compiler.text import plan_text
from itbc.contracts.manifest import Manifest
from itbc.dsl.checking import check, check_file
from itbc.dsl.diagnostics import Sink
from itbc.dsl.dump import dump_model, dump_tree

Stage = Literal["tree", "model", "plan"]


def cache_folder(environment: Mapping[str, str], *, is_root: bool) -> Path:
    """Where what can be made again is kept: ITBC_CACHE, else the machine's for root and the user's own for others."""
    named = environment.get("ITBC_CACHE")
    if named:
        return Path(named).absolute()
    if is_root:
        return Path("/var/cache/itbc")
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "itbc"


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option(
    "--target", "target_name", default="embedded", show_default=True, help="Where the environment will stand."
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The artefact folder to write (replaced where it is one)."
)
@click.option(
    "--stop-after",
    type=click.Choice(["tree", "model", "plan"]),
    help="Print what this stage makes instead of writing artefacts.",
)
def command(scenario: Path, target_name: str, out: Path | None, stop_after: Stage | None) -> int:
    """Compile SCENARIO, a file or the folder of one, into an artefact folder.

    The folder holds everything a run needs: Terraform stacks, Ansible plays, what is judged and how. The same scenario
    gives the same bytes on any machine. Exit code 1 where the scenario has errors.

    Example: itbc compile scenarios/sre/checkout-wrong-payment-address --target embedded -o build/checkout
    """
    target = assembly.target(target_name)
    sink = Sink()
    if stop_after is not None:
        text = _stopped(scenario, target, stop_after, sink)
        click.echo(text, nl=False)
        return report(sink)
    if out is None:
        raise ExitError(Exit.USAGE, "say where to write the artefacts", "add -o FOLDER, or --stop-after to only look")
    manifest = _compiled(scenario, target, out, sink)
    code = report(sink)
    if manifest is not None:
        click.echo(_summary(manifest, out))
    return code


def _compiled(scenario: Path, target: Target, out: Path, sink: Sink) -> Manifest | None:
    cache = cache_folder(os.environ, is_root=os.geteuid() == 0)
    try:
        return compile_scenario(scenario, target, assembly.catalogue(), out, sink, cache)
    except FolderError as wrong:
        raise ExitError(Exit.USAGE, wrong.message, wrong.remedy) from wrong
    except SynthesisError as wrong:
        raise ExitError(
            Exit.OUTSIDE, str(wrong), "it runs Node through cdktn; try once more, or reinstall itbc"
        ) from wrong


def _stopped(scenario: Path, target: Target, stage: Stage, sink: Sink) -> str:
    """What a stage made of the scenario, as text; empty where it made nothing."""
    file = one_scenario_file(scenario, sink)
    if file is None:
        return ""
    if stage == "tree":
        read = check_file(file, assembly.catalogue(), sink).file
        return "" if read is None else dump_tree(read.tree)
    checked = check(file, assembly.catalogue(), sink)
    if checked is None:
        return ""
    if stage == "model":
        return dump_model(checked, file.absolute().parent)
    plan = lower(checked, target, sink)
    return "" if plan is None else plan_text(plan)


def _summary(manifest: Manifest, out: Path) -> str:
    stacks = sum(path.startswith("terraform/") for path in manifest.files)
    plays = sum(name.startswith("play/") for name in manifest.origins)
    return (
        f"{out}: {manifest.scenario} for {manifest.target}, {len(manifest.files) + 1} files"
        f" ({stacks} Terraform stacks, plays for {plays} fault{'' if plays == 1 else 's'})"
    )
