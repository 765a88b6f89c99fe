"""One scenario, all the way from its file to an artefact folder."""

from __future__ import annotations

from pathlib import Path

from itbc.compiler import codes
from itbc.compiler.emit import emit
from itbc.compiler.lower import lower
from itbc.compiler.target import Target
from itbc.contracts.manifest import Manifest
from itbc.dsl.catalogue import Catalogue
from itbc.dsl.checking import check
from itbc.dsl.diagnostics import Sink, listing
from itbc.dsl.files import scenario_files
from itbc.dsl.source import SourceFile, Span


def compile_scenario(  # noqa: PLR0917 - the stages' order: what, for where, with what, to where
    path: Path, target: Target, catalogue: Catalogue, out: Path, sink: Sink, cache: Path | None
) -> Manifest | None:
    """Check the scenario at `path`, compile it for a target, write its artefacts to `out`.

    `path` is a scenario's file, or a folder that holds one. None where there are
    errors; they are in `sink`. `cache` keeps synthesised stacks, so that the
    next compilation is quick. Raises FolderError where `out` can't be written,
    SynthesisError where cdktn fails.
    """
    file = one_scenario_file(path, sink)
    if file is None:
        return None
    scenario = check(file, catalogue, sink)
    if scenario is None:
        return None
    plan = lower(scenario, target, sink)
    return None if plan is None else emit(plan, target, out, cache)


def one_scenario_file(path: Path, sink: Sink) -> Path | None:
    """The file of the one scenario at `path`; reports where there is none, or more than one."""
    found = scenario_files(path, sink)
    if len(found) > 1:
        sink.report(
            codes.SEVERAL_SCENARIOS,
            Span(SourceFile(str(path), ""), 0, 0),
            f"there are {len(found)} below this folder",
            notes=(listing([str(file) for file in found]),),
            help="name one of them",
        )
        return None
    return found[0] if found else None
