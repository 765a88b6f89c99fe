"""What a provider's resources are given by whoever hosts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol


class Ledger(Protocol):
    """The run's record of what it is about to create and what it created; each call is on disk when it returns."""

    def intent(self, kind: str, identity: str, details: Mapping[str, Any]) -> None:
        """Say that `identity` may exist from now on. `details` is all a sweeper needs to remove it."""

    def created(self, kind: str, identity: str) -> None:
        """Say that `identity` exists."""

    def gone(self, kind: str, identity: str) -> None:
        """Say that `identity` no longer exists."""


@dataclass(frozen=True, slots=True)
class Services:
    """The surroundings of a provider: where state and caches go, the ledger, and a line of progress for the user."""

    home: Path
    cache: Path
    ledger: Ledger
    progress: Callable[[str], None]


Sweeper = Callable[[str, Mapping[str, Any]], Sequence[str]]
"""Removes one ledger entry's thing by identity and details, however much of it is left.

Returns what it removed, in words for the user; nothing where nothing was left. Idempotent.
"""


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """A cluster that stands: its name, the folder that holds the run's clusters, its administrator's kubeconfig."""

    name: str
    state_dir: Path
    kubeconfig: Path


class ProgramsUnknown(Exception):  # noqa: N818 - the name is the fact
    """A cluster's own programs can't be looked at: most likely none of them runs any more."""


Running = Callable[[ClusterPlace], Mapping[str, str]]
"""Looks at the programs that a cluster and its telemetry are made of, as far as the target can see them.

Returns for each which process it is, in any words that are others once it was
started anew; empty while it doesn't run. Raises ProgramsUnknown.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of a preflight: what was looked for, whether it is there, and what to do where it isn't."""

    name: str
    level: Literal["ok", "warning", "missing"]
    detail: str
    remedy: str = ""
