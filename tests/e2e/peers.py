"""A cluster with pods that call one another, for the tests of what lies between pods."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from play_scene import SilentLedger

from itbc.providers.embedded import images, runtime
from itbc.providers.embedded.boot import boot
from itbc.providers.embedded.destroy import destroy
from itbc.providers.embedded.record import ClusterState
from itbc.providers.embedded.spec import ClusterSpec
from itbc.providers.services import Services

KUBECTL = str(Path(sys.executable).parent / "kubectl")
IMAGE = "itbc.local/peer:1"


@dataclass(frozen=True)
class Peers:
    """A running cluster. Each of its Deployments has a Service of the same name and port 80, and a second at 81."""

    state: ClusterState

    def kubectl(self, *words: str, given: str | None = None) -> str:
        """What kubectl prints; it must succeed."""
        done = subprocess.run(
            (KUBECTL, "--kubeconfig", str(self.state.layout.kubeconfig), *words),
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: Mapping[str, Any]) -> None:
        """Create or change objects."""
        self.kubectl("apply", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def deploy(self, namespace: str, *names: str) -> None:
        """Create Deployments with their Services, and wait until they are ready."""
        self.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": {"name": namespace}}}
        )
        self.apply(*(each for name in names for each in _application(namespace, name)))
        self.rolled_out(namespace, *names)

    def rolled_out(self, namespace: str, *names: str) -> None:
        """Wait until Deployments are as they are wanted."""
        for name in names:
            self.kubectl("rollout", "status", "-n", namespace, f"deploy/{name}", "--timeout=90s")

    def call(self, source: str, url: str, connection: str = "new") -> dict[str, Any]:
        """Have a pod (`NAMESPACE/DEPLOYMENT`) call a URL: `status`, `milliseconds`, `reused`, `error`."""
        namespace, _, name = source.partition("/")
        answer: dict[str, Any] = json.loads(
            self.kubectl("exec", "-n", namespace, f"deploy/{name}", "--", "/peer", "call", url, connection)
        )
        return answer

    def reaches(self, source: str, url: str, connection: str = "new") -> bool:
        """Whether a call succeeds."""
        return bool(self.call(source, url, connection)["status"] == 200)

    def node(self, *command: str) -> str:
        """What a command prints in the node's network namespace."""
        host = json.loads(self.state.layout.host.read_text())["pid"]
        (first,) = Path(f"/proc/{host}/task/{host}/children").read_text().split()
        done = subprocess.run(
            ("nsenter", "--target", first, "--net", *command), capture_output=True, text=True, check=True
        )
        return done.stdout

    def processes(self, name: str) -> list[int]:
        """The processes of one of the node's programs, as this machine numbers them."""
        host = json.loads(self.state.layout.host.read_text())["pid"]
        (first,) = Path(f"/proc/{host}/task/{host}/children").read_text().split()
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [
            int(pid)
            for pid in children
            if Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].endswith(f"/{name}".encode())
        ]


@contextmanager
def cluster(folder: Path, run: str, cache: Path) -> Iterator[Peers]:
    """A cluster that knows the pods' image, and is gone afterwards."""
    lines: list[str] = []
    spec = ClusterSpec("peers", run, folder, "2999-01-01T00:00:00Z")
    image = images.build(Path(__file__).with_name("peer"), IMAGE, cache, lines.append)
    try:
        state = boot(spec, Services(home=folder, cache=cache, ledger=SilentLedger(), progress=lines.append))
        runtime.import_image(state.layout, image.tar)
        yield Peers(state)
    finally:
        destroy(spec.identity, spec.folder, spec.range)


def eventually(holds: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Wait for a condition. Fails with `what` when time is up."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.05)


def _application(namespace: str, name: str) -> list[dict[str, Any]]:
    labels = {"app": name}
    container = {
        "name": "peer",
        "image": IMAGE,
        "args": ["serve"],
        "ports": [{"name": "web", "containerPort": 8080}, {"name": "more", "containerPort": 9090}],
        "readinessProbe": {"httpGet": {"path": "/", "port": "web"}, "periodSeconds": 1, "failureThreshold": 2},
    }
    metadata = {"name": name, "namespace": namespace}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata,
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"terminationGracePeriodSeconds": 0, "containers": [container]},
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata,
            "spec": {
                "selector": labels,
                "ports": [
                    {"name": "web", "port": 80, "targetPort": "web"},
                    {"name": "more", "port": 81, "targetPort": "more"},
                ],
            },
        },
    ]
