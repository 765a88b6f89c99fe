"""Runs one of the compiled Ansible plays, in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ansible_runner

from itbc.runner.failures import Interrupted
from itbc.runner.waiting import Patience

SETTINGS = {
    "ANSIBLE_FORCE_COLOR": "0",
    "ANSIBLE_INVENTORY_ENABLED": "yaml",
    "ANSIBLE_NOCOWS": "1",
}
"""Beside what the artefacts' own ansible.cfg says: what the user has set for his own playbooks mustn't reach ours."""


class PlayFailed(Exception):  # noqa: N818 - the name is the fact
    """A play didn't reach its end. The message is Ansible's own for the task that failed."""


@dataclass(frozen=True, slots=True)
class Plays:
    """The artefacts' folder of plays, and ansible-runner's private folder for a run."""

    compiled: Path
    private: Path
    patience: Patience

    def run(self, play: str, name: str, given: Mapping[str, Any], tell: Callable[[str], None], seconds: float) -> None:
        """Run a play with extra variables; `name` is unique in the run and names its log folder.

        Raises PlayFailed, and Interrupted when the user wants to stop.
        """
        messages: list[str] = []

        def on_event(event: Mapping[str, Any]) -> bool:
            data = event.get("event_data", {})
            if event.get("event") == "playbook_on_task_start":
                tell(f"{play}: {data.get('task', '')}")
            elif event.get("event") in ("runner_on_failed", "runner_on_unreachable") and not data.get("ignore_errors"):
                messages.append(_said(data))
            return True

        project = self.compiled / "project"
        settings = {
            **SETTINGS,
            "ANSIBLE_CONFIG": str(project / "ansible.cfg"),
            "ANSIBLE_HOME": str(self.private / "home"),
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        }
        result = ansible_runner.run(
            private_data_dir=str(self.private),
            project_dir=str(project),
            playbook=play,
            ident=name,
            inventory=str(self.compiled / "inventory"),
            extravars={**given, "ansible_python_interpreter": sys.executable},
            envvars=settings,
            quiet=True,
            timeout=int(seconds),
            event_handler=on_event,
            cancel_callback=self.patience.stop.is_set,
            suppress_env_files=True,
        )
        if self.patience.stop.is_set():
            raise Interrupted
        if result.status == "timeout":
            raise PlayFailed(f"it took longer than {seconds:.0f} s")
        if result.status != "successful":
            raise PlayFailed("; ".join(messages) or f"Ansible ended with {result.status}, exit code {result.rc}")


def _said(data: Mapping[str, Any]) -> str:
    result = data.get("res", {})
    said = result.get("msg") or result.get("stderr") or "no reason given"
    return f"{data.get('task', 'task')}: {said}"
