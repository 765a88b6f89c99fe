"""The compiled plays against a real cluster: break, prove, undo, and what an agent could see of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from itbc.compiler.emit.plays import render_project
from itbc.compiler.plan import Break
from itbc.contracts import schemas
from itbc.dsl.catalogue import FaultRequest
from itbc.dsl.source import SourceFile, Span
from itbc.providers.embedded.boot import boot
from itbc.providers.embedded.destroy import destroy
from itbc.providers.embedded.nodefiles import PAUSE_IMAGE
from itbc.providers.embedded.spec import ClusterSpec
from itbc.providers.faults import catalogue
from itbc.providers.kubernetes.client import Client
from itbc.providers.kubernetes.refs import Ref
from itbc.providers.kubernetes.rollout import wait_gone, wait_ready
from itbc.providers.services import Services

pytestmark = pytest.mark.e2e

CHECKOUT: Mapping[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "checkout", "namespace": "shop", "labels": {"team": "shop"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "checkout"}},
        "template": {
            "metadata": {"labels": {"app": "checkout"}},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "containers": [
                    {
                        "name": "checkout",
                        "image": PAUSE_IMAGE,
                        "env": [
                            {"name": "PORT", "value": "8080"},
                            {"name": "PAYMENT_ADDR", "value": "http://payment:8080"},
                        ],
                    }
                ],
            },
        },
    },
}
CHECKOUT_REF = Ref.of(CHECKOUT)
WRONG = "http://payment:9999/{{ lookup('env', 'HOME') }}"


class SilentLedger:
    """The clusters of this test are destroyed by the test itself."""

    def intent(self, kind: str, identity: str, details: Mapping[str, Any]) -> None: ...

    def created(self, kind: str, identity: str) -> None: ...

    def gone(self, kind: str, identity: str) -> None: ...


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("faults")
    cache = Path(os.environ.get("ITBC_CACHE", "/var/cache/itbc"))
    services = Services(home=folder, cache=cache, ledger=SilentLedger(), progress=lambda _: None)
    spec = ClusterSpec("faults", f"test-{os.getpid()}", folder / "clusters", "2999-01-01T00:00:00Z")
    try:
        boot(spec, services)
        yield spec.folder / "admin.kubeconfig"
    finally:
        destroy(spec.identity, spec.folder)


@dataclass
class Plays:
    """The emitted project of one fault, on a cluster that runs the workload."""

    project: Path
    undo: Path
    kubeconfig: Path
    client: Client

    def run(self, phase: str) -> subprocess.CompletedProcess[str]:
        given = {
            "kubeconfig": str(self.kubeconfig),
            "undo_dir": str(self.undo),
            "ansible_python_interpreter": sys.executable,
        }
        return subprocess.run(
            [
                str(Path(sys.executable).parent / "ansible-playbook"),
                *("-i", str(self.project.parent / "inventory"), f"wrong-{phase}.yml", "-e", json.dumps(given)),
            ],
            cwd=self.project,
            env={**os.environ, "ANSIBLE_HOME": str(self.undo.parent / "ansible-home")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def fine(self, phase: str) -> str:
        done = self.run(phase)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def record(self) -> Path:
        return self.undo / "wrong.json"

    def live(self) -> dict[str, Any]:
        found = self.client.get(CHECKOUT_REF)
        assert found is not None
        return dict(found)

    def values(self) -> list[str]:
        """PAYMENT_ADDR in every pod that isn't going away."""
        pods = self.client.list_objects("v1", "Pod", "shop", labels="app=checkout")
        env = [pod["spec"]["containers"][0]["env"] for pod in pods if not pod["metadata"].get("deletionTimestamp")]
        return [entry["value"] for entries in env for entry in entries if entry["name"] == "PAYMENT_ADDR"]


def broken(within_seconds: float | None = None) -> Break:
    kind = catalogue().faults["k8s.env.modified"]
    request = FaultRequest(
        "faults", "shop", "Deployment", "checkout", CHECKOUT, {"variable": "PAYMENT_ADDR", "value": WRONG}
    )
    source = SourceFile("s.itb", "fault", PurePosixPath("s.itb"))
    effect = kind.effect(request)
    if within_seconds is not None:
        effect = replace(effect, within_seconds=within_seconds)
    return Break(
        id="fault/wrong",
        needs=(),
        fault="wrong",
        kind=kind.kind,
        cluster="faults",
        namespace="shop",
        changes=tuple(kind.changes(request)),
        effect=effect,
        span=Span(source, 0, 5),
    )


def emitted(folder: Path, step: Break) -> Path:
    for path, data in render_project([step]).items():
        target = folder / "ansible" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder / "ansible" / "project"


@pytest.fixture
def plays(kubeconfig: Path, tmp_path: Path) -> Iterator[Plays]:
    client = Client.from_kubeconfig(kubeconfig)
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    client.apply(CHECKOUT)
    wait_ready(client, CHECKOUT_REF, 120.0)
    undo = tmp_path / "undo"
    undo.mkdir(mode=0o700)
    yield Plays(emitted(tmp_path, broken()), undo, kubeconfig, client)
    client.delete(CHECKOUT_REF)
    wait_gone(client, CHECKOUT_REF, 60.0)


def visible(live: Mapping[str, Any]) -> dict[str, Any]:
    """What a person or an agent can read of an object, but for what Kubernetes itself counts and reports."""
    metadata = dict(live["metadata"])
    annotations = dict(metadata.get("annotations", {}))
    annotations.pop("deployment.kubernetes.io/revision", None)
    own = [entry for entry in metadata["managedFields"] if entry.get("subresource") != "status"]
    for key in ("generation", "resourceVersion"):
        metadata.pop(key)
    return {**live, "status": None, "metadata": {**metadata, "annotations": annotations, "managedFields": own}}


def test_break_prove_undo(plays: Plays):
    healthy = plays.live()
    plays.fine("inject")
    schemas.validate("undo", plays.record.read_bytes())
    assert plays.record.stat().st_mode & 0o777 == 0o600
    plays.fine("prove")
    assert plays.values() == [WRONG, WRONG]

    looks = visible(plays.live())
    value = looks["spec"]["template"]["spec"]["containers"][0]["env"][1]
    assert value == {"name": "PAYMENT_ADDR", "value": WRONG}
    value["value"] = "http://payment:8080"
    assert looks == visible(healthy), "the fault shows somewhere else than in the value"

    plays.fine("undo")
    assert visible(plays.live()) == visible(healthy)
    assert plays.values() == ["http://payment:8080"] * 2
    assert not plays.record.exists()

    before = plays.live()["metadata"]["resourceVersion"]
    assert "changed=0" in plays.fine("undo")
    assert plays.live()["metadata"]["resourceVersion"] == before


def test_undo_by_another_process_after_the_object_was_deleted(plays: Plays):
    healthy = visible(plays.live())
    plays.fine("inject")
    plays.client.delete(CHECKOUT_REF)
    plays.fine("undo")
    again = visible(plays.live())
    assert again["spec"] == healthy["spec"]
    assert again["metadata"]["labels"] == healthy["metadata"]["labels"]
    assert plays.values() == ["http://payment:8080"] * 2


def test_a_second_injection_does_not_save_the_broken_object(plays: Plays):
    plays.fine("inject")
    saved = plays.record.read_bytes()
    plays.fine("inject")
    assert plays.record.read_bytes() == saved
    plays.fine("undo")
    plays.client.apply(CHECKOUT)


def test_an_effect_that_is_not_there_fails_loudly(plays: Plays, tmp_path: Path):
    never = Plays(emitted(tmp_path / "never", broken(within_seconds=1.0)), plays.undo, plays.kubeconfig, plays.client)
    done = never.run("prove")
    assert done.returncode == 2
    assert "not so after 1 s: the pods of checkout have the wrong PAYMENT_ADDR" in done.stdout


def test_another_object_than_the_declared_one_is_not_broken(plays: Plays):
    order = [{"op": "remove", "path": "/spec/template/spec/containers/0/env/0"}]
    plays.client.patch(CHECKOUT_REF, order)
    done = plays.run("inject")
    assert done.returncode == 2
    assert "can't change Deployment shop/checkout" in done.stdout
    assert plays.live()["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] == "http://payment:8080"
