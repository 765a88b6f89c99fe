"""Runs compiled Ansible plays, one after the other in one Ansible process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner
import yaml

from itbc.runner.failures import Interrupted
from itbc.runner.waiting import Patience

SETTINGS = {
    "ANSIBLE_FORCE_COLOR": "0",
    "ANSIBLE_INVENTORY_ENABLED": "yaml",
    "ANSIBLE_NOCOWS": "1",
}
"""Beside what the artefacts' own ansible.cfg says: what the user has set for his own playbooks mustn't reach ours."""


class PlayFailed(Exception):  # noqa: N818 - the name is the fact
    """A playbook didn't reach its end: `playbook` is its number. The message is Ansible's own."""

    def __init__(self, message: str, playbook: int) -> None:
        super().__init__(message)
        self.playbook = playbook


@dataclass(slots=True)
class _Listener:
    """Follows Ansible's events: which playbook it is at, and what failed."""

    counts: Sequence[int]
    on_playbook: Callable[[int], None]
    tell: Callable[[str], None]
    plays: int = 0
    messages: list[str] = field(default_factory=list)

    @property
    def playbook(self) -> int:
        """The number of the playbook that the current play belongs to."""
        seen = 0
        for number, count in enumerate(self.counts):
            seen += count
            if self.plays <= seen:
                return number
        return len(self.counts) - 1

    def hear(self, event: Mapping[str, Any]) -> bool:
        """Take one event."""
        data = event.get("event_data", {})
        kind = event.get("event")
        if kind == "playbook_on_play_start":
            before = self.playbook if self.plays else -1
            self.plays += 1
            if self.playbook != before:
                self.on_playbook(self.playbook)
        elif kind == "playbook_on_task_start":
            self.tell(str(data.get("task", "")))
        elif kind in {"runner_on_failed", "runner_on_unreachable"} and not data.get("ignore_errors"):
            result = data.get("res", {})
            said = result.get("msg") or result.get("stderr") or "no reason given"
            self.messages.append(f"{data.get('task', 'a task')}: {said}")
        return True


@dataclass(frozen=True, slots=True)
class Plays:
    """The artefacts' folder of plays, and ansible-runner's private folder for a run."""

    compiled: Path
    private: Path
    patience: Patience

    def run(
        self,
        name: str,
        playbooks: Sequence[str],
        given: Mapping[str, Any],
        *,
        on_playbook: Callable[[int], None],
        tell: Callable[[str], None],
        seconds: float,
    ) -> None:
        """Run playbooks in their order, with extra variables; `name` names what they leave behind.

        `on_playbook` hears the number of each as it begins. Raises PlayFailed,
        and Interrupted when the user wants to stop.
        """
        project = self.compiled / "project"
        listener = _Listener([_plays(project / each) for each in playbooks], on_playbook, tell)
        whole = self.private / f"{name}.yml"
        whole.write_text(json.dumps([{"import_playbook": str(project / each)} for each in playbooks], indent=2))
        settings = {
            **SETTINGS,
            "ANSIBLE_CONFIG": str(project / "ansible.cfg"),
            "ANSIBLE_HOME": str(self.private / "home"),
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        }
        with _unrecorded(self.private / "artifacts" / name / "command"):
            result = ansible_runner.run(
                private_data_dir=str(self.private),
                project_dir=str(project),
                playbook=str(whole),
                ident=name,
                inventory=str(self.compiled / "inventory"),
                extravars={**given, "ansible_python_interpreter": sys.executable},
                envvars=settings,
                quiet=True,
                timeout=int(seconds),
                event_handler=listener.hear,
                cancel_callback=self.patience.stop.is_set,
                suppress_env_files=True,
            )
        if self.patience.stop.is_set():
            raise Interrupted
        if result.status == "timeout":
            raise PlayFailed(f"it took longer than {seconds:.0f} s", listener.playbook)
        if result.status != "successful":
            said = "; ".join(listener.messages) or f"Ansible ended with {result.status}, exit code {result.rc}"
            raise PlayFailed(said, listener.playbook)


@contextmanager
def _unrecorded(path: Path) -> Generator[None]:
    """Let what is written to a file while the block runs be in memory only.

    ansible-runner writes its whole environment down there, with whatever keys the user has in it.
    """
    path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    descriptor = os.memfd_create(path.name)
    try:
        path.symlink_to(f"/proc/self/fd/{descriptor}")
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _plays(playbook: Path) -> int:
    """How many plays a playbook has."""
    return len(yaml.safe_load(playbook.read_text()))
