"""A scenario's artefacts, for verbs that go on with them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from itbc.cli import assembly
from itbc.cli.exits import Exit, ExitError
from itbc.cli.reporting import report
from itbc.cli.workshop import outside_failures
from itbc.compiler import FolderError, SynthesisError, compile_scenario
from itbc.compiler.target import Target
from itbc.contracts.manifest import Manifest
from itbc.dsl.diagnostics import Sink
from itbc.runner.artefacts import MANIFEST, Artefacts, load
from itbc.runner.home import Home
from itbc.runner.scratch import scratch
from itbc.stacks.toolchain import cache_folder

_numbers = itertools.count()


@contextmanager
def compiled(scenario: Path, target_name: str) -> Generator[Artefacts]:
    """The artefacts of a scenario, compiled for the duration of the block unless the path is an artefact folder.

    Raises ExitError where the scenario has errors, which have been printed by then.
    """
    with outside_failures(), ExitStack() as stack:
        folder = scenario
        if not (scenario / MANIFEST).is_file():
            target = assembly.target(target_name)
            home = Home.from_environment(os.environ)
            folder = stack.enter_context(scratch(home.compiled, str(next(_numbers)))) / "artefacts"
            sink = Sink()
            manifest = _compile(scenario, target, folder, sink)
            code = report(sink)
            if manifest is None or code:
                raise ExitError(Exit.FAILED)
        yield load(folder)


def secrets(scenario: Path) -> list[Path]:
    """What holds the scenario's truth: its own folder."""
    return [scenario.resolve() if scenario.is_dir() else scenario.resolve().parent]


def hiding_places(scenario: Path) -> list[Path]:
    """Where copies of the truth may be: the whole checkout around the scenario, with its history and tests."""
    (folder,) = secrets(scenario)
    return [parent for parent in (folder, *folder.parents) if (parent / ".git").exists()]


def _compile(scenario: Path, target: Target, folder: Path, sink: Sink) -> Manifest | None:
    try:
        return compile_scenario(scenario, target, assembly.catalogue(), folder, sink, cache_folder())
    except FolderError as wrong:
        raise ExitError(Exit.USAGE, wrong.message, wrong.remedy) from wrong
    except SynthesisError as wrong:
        raise ExitError(Exit.OUTSIDE, str(wrong), "it runs Node through cdktn; try again or reinstall itbc") from wrong
