"""Where runs live on this machine."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from itbc.runner.failures import StepFailed

SOCKET_ROOM = 108 - len("/runs/20261201-101500-ab12/provider") - 1
"""The longest home that still leaves a Unix socket in a run folder under the kernel's limit, in bytes."""

_SUFFIX = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass(frozen=True, slots=True)
class Home:
    """The two folders that outlive a run: state and caches."""

    root: Path
    cache: Path

    @staticmethod
    def named(environment: Mapping[str, str]) -> Home:
        """The home that ITBC_HOME and ITBC_CACHE name, whether it is there or not."""
        root = Path(environment.get("ITBC_HOME") or "/var/lib/itbc").absolute()
        cache = Path(environment.get("ITBC_CACHE") or "/var/cache/itbc").absolute()
        return Home(root, cache)

    @staticmethod
    def from_environment(environment: Mapping[str, str]) -> Home:
        """The home that ITBC_HOME and ITBC_CACHE name, made where it is missing.

        Raises StepFailed when it can't be made, is another user's, or its path is too long.
        """
        home = Home.named(environment)
        root, cache = home.root, home.cache
        if len(os.fsencode(root)) > SOCKET_ROOM:
            raise StepFailed(
                "environment",
                f"the path of itbc's home is too long for Unix sockets in it: {root}",
                f"set ITBC_HOME to a path of at most {SOCKET_ROOM} bytes",
            )
        try:
            root.mkdir(parents=True, exist_ok=True, mode=0o711)
            root.chmod(0o711)
            for private in (home.runs, home.ledgers, home.compiled):
                private.mkdir(mode=0o700, exist_ok=True)
                private.chmod(0o700)
            home.workspaces.mkdir(mode=0o711, exist_ok=True)
            home.workspaces.chmod(0o711)
            cache.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            what = f"can't make itbc's home: {wrong}"
            if isinstance(wrong, PermissionError) and root.is_dir():
                what = f"itbc's home {root} is another user's ({wrong})"
            raise StepFailed(
                "environment",
                what,
                "run as root, or set ITBC_HOME and ITBC_CACHE to folders of your own",
            ) from wrong
        return home

    @property
    def runs(self) -> Path:
        """One folder a run; nobody but its owner may look into it."""
        return self.root / "runs"

    @property
    def ledgers(self) -> Path:
        """One ledger a run, outside the run's folder so that it survives it."""
        return self.root / "ledger"

    @property
    def compiled(self) -> Path:
        """Artefacts that a command compiled for itself, a folder a process; they hold the truth."""
        return self.root / "compiled"

    @property
    def workspaces(self) -> Path:
        """One workspace a run: the only place that the agent's own user can reach."""
        return self.root / "agents"

    def ledger(self, run: str) -> Path:
        """The ledger of a run."""
        return self.ledgers / f"{run}.jsonl"

    def run(self, name: str) -> RunFolder:
        """The folder of a run, whether it exists or not."""
        return RunFolder(name, self.runs / name, self.workspaces / name)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run."""

    name: str
    path: Path
    workspace_root: Path

    @property
    def record(self) -> Path:
        """The run's summary."""
        return self.path / "record.json"

    @property
    def steps(self) -> Path:
        """One file a step."""
        return self.path / "steps"

    @property
    def artefacts(self) -> Path:
        """The run's own copy of the artefact folder."""
        return self.path / "artefacts"

    @property
    def terraform(self) -> Path:
        """A folder a stack: data and state."""
        return self.path / "terraform"

    @property
    def clusters(self) -> Path:
        """A folder an embedded cluster: its own state."""
        return self.path / "clusters"

    @property
    def ansible(self) -> Path:
        """ansible-runner's private data."""
        return self.path / "ansible"

    @property
    def agent(self) -> Path:
        """What the agent printed and handed in, copied out of its workspace."""
        return self.path / "agent"

    @property
    def logs(self) -> Path:
        """What outside programs printed."""
        return self.path / "logs"

    @property
    def before(self) -> Path:
        """The objects of the healthy baseline."""
        return self.path / "before.json"

    @property
    def evidence(self) -> Path:
        """What was seen of the run."""
        return self.path / "evidence.json"

    @property
    def score(self) -> Path:
        """The verdict."""
        return self.path / "score.json"

    @property
    def metrics(self) -> Path:
        """How the objectives went, from the healthy baseline on."""
        return self.path / "metrics.json"

    @property
    def junit(self) -> Path:
        """The verdict in JUnit's form."""
        return self.path / "junit.xml"

    def create(self) -> None:
        """Make the folder. Raises FileExistsError when the run exists already."""
        self.path.mkdir(mode=0o700)
        for folder in (self.steps, self.terraform, self.clusters, self.ansible, self.agent, self.logs):
            folder.mkdir(mode=0o700)


def new_run_name(now: datetime, seed: random.Random) -> str:
    """A run's name: when it began, and four characters so that two at once differ. It goes into resource names."""
    suffix = "".join(seed.choice(_SUFFIX) for _ in range(4))
    return f"{now:%Y%m%d-%H%M%S}-{suffix}"
