"""A real cluster and the compiled plays of a fault on it, for the end-to-end tests of faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itbc.compiler.emit.plays import render_project
from itbc.compiler.plan import Break
from itbc.providers.embedded import images, runtime
from itbc.providers.embedded.boot import boot
from itbc.providers.embedded.destroy import destroy
from itbc.providers.embedded.record import load
from itbc.providers.embedded.spec import ClusterSpec
from itbc.providers.kubernetes.client import Client
from itbc.providers.services import Services

CACHE = Path(os.environ.get("ITBC_CACHE", "/var/cache/itbc"))


class SilentLedger:
    """The clusters of a test are destroyed by the test itself."""

    def intent(self, kind: str, identity: str, details: Mapping[str, Any]) -> None: ...

    def created(self, kind: str, identity: str) -> None: ...

    def gone(self, kind: str, identity: str) -> None: ...


@contextmanager
def cluster(folder: Path, name: str, sources: Mapping[str, Path]) -> Iterator[Path]:
    """The admin kubeconfig of a cluster that has images made from sources, destroyed at the end."""
    services = Services(home=folder, cache=CACHE, ledger=SilentLedger(), progress=lambda _: None)
    spec = ClusterSpec(name, f"test-{os.getpid()}", folder / "clusters", "2999-01-01T00:00:00Z")
    try:
        boot(spec, services)
        found = load(spec.folder)
        assert found is not None
        for reference, source in sources.items():
            runtime.import_image(found.layout, images.build(source, reference, CACHE, lambda _: None).tar)
        yield spec.folder / "admin.kubeconfig"
    finally:
        destroy(spec.identity, spec.folder)


@dataclass
class Plays:
    """The emitted project of some faults on a cluster that runs what they aim at."""

    project: Path
    undo: Path
    kubeconfig: Path
    client: Client

    @classmethod
    def emitted(cls, folder: Path, steps: Sequence[Break], kubeconfig: Path, client: Client) -> Plays:
        """Write the plays below a folder, and make the undo folder beside them."""
        for path, data in render_project(steps).items():
            target = folder / "ansible" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        undo = folder / "undo"
        undo.mkdir(mode=0o700, exist_ok=True)
        return cls(folder / "ansible" / "project", undo, kubeconfig, client)

    def run(self, fault: str, phase: str) -> subprocess.CompletedProcess[str]:
        """Run one play to its end."""
        given = {
            "kubeconfig": str(self.kubeconfig),
            "undo_dir": str(self.undo),
            "ansible_python_interpreter": sys.executable,
        }
        return subprocess.run(
            [
                str(Path(sys.executable).parent / "ansible-playbook"),
                *("-i", str(self.project.parent / "inventory"), f"{fault}-{phase}.yml", "-e", json.dumps(given)),
            ],
            cwd=self.project,
            env={**os.environ, "ANSIBLE_HOME": str(self.undo.parent / "ansible-home")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def fine(self, fault: str, phase: str) -> str:
        """Run one play, which has to succeed; what it printed."""
        done = self.run(fault, phase)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def record(self, fault: str) -> Path:
        """Where a fault's undo record is."""
        return self.undo / f"{fault}.json"


def visible(live: Mapping[str, Any]) -> dict[str, Any]:
    """What a person or an agent can read of an object, but for what Kubernetes itself counts and reports."""
    metadata = dict(live["metadata"])
    annotations = dict(metadata.get("annotations", {}))
    annotations.pop("deployment.kubernetes.io/revision", None)
    own = [entry for entry in metadata["managedFields"] if entry.get("subresource") != "status"]
    for key in ("generation", "resourceVersion"):
        metadata.pop(key, None)
    return {**live, "status": None, "metadata": {**metadata, "annotations": annotations, "managedFields": own}}
