"""What the package of a target offers to whoever puts the program together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from itbc.compiler.target import Target
from itbc.providers.plugin import ResourceClass
from itbc.providers.services import Finding, Running, Sweeper


class TargetPackage(Protocol):
    """A target's package: to add a target is to add such a package and to name it in `itbc.cli.assembly.TARGETS`."""

    @property
    def TARGET(self) -> Target:  # noqa: N802 - a constant of a module
        """What the compiler is given."""
        ...

    @property
    def RESOURCES(self) -> Sequence[ResourceClass]:  # noqa: N802 - a constant of a module
        """The target's own Terraform resource types."""
        ...

    @property
    def SWEEPERS(self) -> Mapping[str, Sweeper]:  # noqa: N802 - a constant of a module
        """What removes a ledger entry's thing, by the entry's kind."""
        ...

    @property
    def running(self) -> Running:
        """Look at the programs that a cluster and its telemetry are made of; none where the target can't see any."""
        ...

    @property
    def preflight(self) -> Callable[[], Sequence[Finding]]:
        """Look at what this machine has and lacks. Changes nothing."""
        ...

    @property
    def prepare(self) -> Callable[[Path, Collection[str], Callable[[str], None]], None]:
        """Have the programs in the cache (the first argument) that the target builds. Raises ToolchainError.

        The second argument is which signals a run will collect: what no run needs needn't be built.
        """
        ...
