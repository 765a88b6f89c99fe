"""What an agent works at: its workspace, its time, and the running of programs with its rights."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from itbc.contracts.environment import Grant, Mutant, Repair
from itbc.contracts.evaluation import Truth
from itbc.runner.sandbox.programs import Ended, Sandbox
from itbc.runner.sandbox.trajectory import STDERR, STDOUT, Following
from itbc.runner.waiting import Patience

ANSWER = "answer.json"
SCHEMA = "answer.schema.json"
TASK = "task.md"
TOPOLOGY = "topology.json"
KUBECONFIG = "kubeconfig"

_OWN = frozenset({"PATH", "HOME", "LANG", "USER", "KUBECONFIG"})


def is_own(variable: str) -> bool:
    """Whether itbc itself sets this environment variable for agents."""
    return variable in _OWN or variable.startswith("ITBC_")


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of a run's agent. `root` holds them; only `work` and `home` are the agent's own."""

    root: Path

    @property
    def work(self) -> Path:
        """The agent's working folder: task, kubeconfig, answer."""
        return self.root / "work"

    @property
    def home(self) -> Path:
        """The agent's HOME."""
        return self.root / "home"

    @property
    def programs(self) -> Path:
        """What is put first on the agent's PATH: kubectl."""
        return self.root / "bin"

    @property
    def answer(self) -> Path:
        """Where the agent's answer is expected."""
        return self.work / ANSWER

    def kubeconfig_of(self, cluster: str) -> Path:
        """The kubeconfig whose current context is one particular cluster."""
        return self.work / ".kube" / cluster


@dataclass(frozen=True, slots=True)
class Workplace:
    """An agent's place of work. `began` and `deadline` are on `patience`'s clock; `output` keeps what it prints.

    `run` is the run's folder, which the agent can't see; `say` is a line that the user must see.
    """

    workspace: Workspace
    sandbox: Sandbox
    patience: Patience
    began: float
    deadline: float
    output: Path
    run: Path
    say: Callable[[str], None]

    def execute(self, command: Sequence[str], stdin: bytes = b"", more: Mapping[str, str] | None = None) -> Ended:
        """Run a program with the agent's user and rights. Raises OutOfTime, Interrupted and NoSandbox."""
        outputs = (self.output / STDOUT, self.output / STDERR)
        following = Following(self.output, self.began, self.patience.monotonic, self.sandbox.redaction)
        with following.program(command) as ended_with:
            ended = self.sandbox.execute(
                command, outputs, self.patience, deadline=self.deadline, stdin=stdin, more=more
            )
            ended_with(ended.code)
        return ended

    def in_cluster(self, cluster: str) -> dict[str, str]:
        """The environment variables that make kubectl talk to one particular cluster."""
        return {"KUBECONFIG": str(self.workspace.kubeconfig_of(cluster))}

    def hand_in(self, root_causes: Sequence[Mapping[str, Any]], explanation: str) -> None:
        """Write the answer for an agent that is part of itbc."""
        answer = {"root_causes": list(root_causes), "explanation": explanation}
        # The folder is the agent's, who may have put a link there: it is replaced, never written through.
        part = self.workspace.root / f"{ANSWER}.part"
        part.write_text(json.dumps(answer, indent=2, sort_keys=True) + "\n")
        part.replace(self.workspace.answer)


@dataclass(frozen=True, slots=True)
class Script:
    """What shipped agents are built from. Other agents never get any of it."""

    repairs: Sequence[Repair]
    mutants: Sequence[Mutant]
    grants: Sequence[Grant]
    truth: Truth


class Agent(Protocol):
    """Something that works at a workplace."""

    def work(self, workplace: Workplace) -> int:
        """Do the work. Returns the exit code, 0 where it ended well. Raises OutOfTime and Interrupted."""
        ...
