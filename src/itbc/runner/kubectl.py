"""kubectl, for what the runner itself does in a cluster."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itbc.runner.failures import StepFailed


@dataclass(frozen=True, slots=True)
class Kubectl:
    """The kubectl program with one kubeconfig."""

    program: Path
    kubeconfig: Path
    environment: Mapping[str, str]

    def run(self, arguments: Sequence[str], stdin: bytes = b"", seconds: float = 60.0) -> bytes:
        """Run one command and return what it printed.

        Raises StepFailed (the environment's fault) when it fails or takes too long.
        """
        command = [str(self.program), f"--kubeconfig={self.kubeconfig}", *arguments]
        try:
            done = subprocess.run(
                command,
                input=stdin,
                capture_output=True,
                timeout=seconds,
                check=False,
                env=dict(self.environment),
                start_new_session=True,
            )
        except subprocess.TimeoutExpired as wrong:
            raise StepFailed("environment", f"kubectl {arguments[0]} took longer than {seconds:.0f} s") from wrong
        except OSError as wrong:
            raise StepFailed("environment", f"can't start kubectl: {wrong}", "run `itbc doctor`") from wrong
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise StepFailed("environment", f"kubectl {arguments[0]} failed: {said}")
        return done.stdout

    def apply(self, objects: Sequence[Mapping[str, Any]]) -> None:
        """Create or update objects. Raises StepFailed."""
        listing = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.run(["apply", "-f", "-"], json.dumps(listing, sort_keys=True).encode())
