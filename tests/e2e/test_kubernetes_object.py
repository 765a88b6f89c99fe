"""`itbc_kubernetes_object` on a real cluster, driven by the real Terraform."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from itbc.evaluators.probes.objects import snapshot
from itbc.providers.embedded.boot import boot
from itbc.providers.embedded.destroy import destroy
from itbc.providers.embedded.nodefiles import PAUSE_IMAGE
from itbc.providers.embedded.spec import ClusterSpec
from itbc.providers.kubernetes.client import ApiError, Client
from itbc.providers.kubernetes.object import RESOURCES, sweep
from itbc.providers.kubernetes.refs import Ref
from itbc.providers.kubernetes.rollout import remove
from itbc.providers.plugin import ADDRESS, Plugin
from itbc.providers.services import Services
from itbc.runner.outside.plugin_host import serve
from itbc.runner.waiting import Patience

pytestmark = pytest.mark.e2e

Manifest = dict[str, Any]


@dataclass
class RecordingLedger:
    """A ledger that keeps what it is told; the real one is the runner's."""

    intents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    events: list[tuple[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def intent(self, kind: str, identity: str, details: Mapping[str, Any]) -> None:
        with self.lock:
            self.intents[identity] = details
            self.events.append((f"intent {kind}", identity))

    def created(self, kind: str, identity: str) -> None:
        with self.lock:
            self.events.append((f"created {kind}", identity))

    def gone(self, kind: str, identity: str) -> None:
        with self.lock:
            self.events.append((f"gone {kind}", identity))


def _services(folder: Path, ledger: RecordingLedger) -> Services:
    cache = Path(os.environ.get("ITBC_CACHE", "/var/cache/itbc"))
    return Services(home=folder, cache=cache, ledger=ledger, progress=lambda _: None)


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("objects")
    spec = ClusterSpec("objects", f"test-{os.getpid()}", folder / "clusters", "2999-01-01T00:00:00Z")
    try:
        boot(spec, _services(folder, RecordingLedger()))
        yield spec.folder / "admin.kubeconfig"
    finally:
        destroy(spec.identity, spec.folder)


@dataclass
class Stack:
    """A Terraform root module of objects, and the provider that serves it."""

    folder: Path
    kubeconfig: Path
    environment: dict[str, str]
    ledger: RecordingLedger

    def write(self, objects: Mapping[str, Manifest], **options: Any) -> None:
        resources: dict[str, Any] = {}
        before: list[str] = []
        for name, manifest in objects.items():
            resources[name] = {
                "kubeconfig": str(self.kubeconfig),
                "manifest": json.dumps(manifest),
                "depends_on": before,
                **options,
            }
            before = [f"itbc_kubernetes_object.{name}"]
        document: dict[str, Any] = {
            "terraform": {"required_providers": {"itbc": {"source": ADDRESS}}},
        }
        if resources:
            document["resource"] = {"itbc_kubernetes_object": resources}
        (self.folder / "main.tf.json").write_text(json.dumps(document))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ("terraform", *arguments, "-no-color"),
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def apply(self) -> subprocess.CompletedProcess[str]:
        return self.run("apply", "-auto-approve", "-input=false")

    def destroy(self) -> subprocess.CompletedProcess[str]:
        return self.run("destroy", "-auto-approve", "-input=false")

    def plan(self) -> int:
        return self.run("plan", "-detailed-exitcode", "-input=false").returncode

    def state(self) -> dict[str, dict[str, Any]]:
        path = self.folder / "terraform.tfstate"
        resources = json.loads(path.read_text())["resources"] if path.exists() else []
        return {
            r["name"]: {**instance["attributes"], "tainted": instance.get("status") == "tainted"}
            for r in resources
            for instance in r["instances"]
        }


@pytest.fixture
def stack(tmp_path: Path, kubeconfig: Path) -> Iterator[Stack]:
    (tmp_path / "cli.tfrc").write_text("disable_checkpoint = true\n")
    work = tmp_path / "work"
    work.mkdir()
    ledger = RecordingLedger()
    with serve(Plugin(_services(tmp_path, ledger), RESOURCES), tmp_path / "provider") as environment:
        base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc")}
        stack = Stack(work, kubeconfig, base | environment, ledger)
        yield stack
        done = stack.destroy()
        assert done.returncode == 0, done.stderr
        assert stack.state() == {}


@pytest.fixture
def client(kubeconfig: Path) -> Iterator[Client]:
    with Client.from_kubeconfig(kubeconfig) as client:
        yield client


def _remove(client: Client, ref: Ref) -> None:
    assert remove(client, ref, 30)


def _namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _config(namespace: str, data: dict[str, str], name: str = "settings") -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _deployment(namespace: str, image: str = PAUSE_IMAGE, **container: Any) -> Manifest:
    pod = {
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "idle", "image": image, "imagePullPolicy": "IfNotPresent", **container}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "idle", "namespace": namespace},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "idle"}},
            "template": {"metadata": {"labels": {"app": "idle"}}, "spec": pod},
        },
    }


def test_applies_waits_and_destroys(stack: Stack, client: Client) -> None:
    stack.write({"ns": _namespace("whole"), "config": _config("whole", {"a": "1"}), "idle": _deployment("whole")})
    done = stack.apply()
    assert done.returncode == 0, done.stderr
    live = client.get(Ref("apps/v1", "Deployment", "idle", "whole"))
    assert live is not None
    assert live["status"]["availableReplicas"] == 2
    state = stack.state()
    assert state["idle"]["uid"] == live["metadata"]["uid"]
    assert state["idle"]["id"] == "apps/v1/Deployment/whole/idle"
    assert stack.plan() == 0
    done = stack.destroy()
    assert done.returncode == 0, done.stderr
    assert client.get(Ref("v1", "Namespace", "whole")) is None
    identity = f"{stack.kubeconfig}#apps/v1/Deployment/whole/idle"
    assert [event for event, about in stack.ledger.events if about == identity] == [
        f"{event} kubernetes-object" for event in ("intent", "created", "gone")
    ]
    assert stack.ledger.intents[identity] == {
        "kubeconfig": str(stack.kubeconfig),
        "id": "apps/v1/Deployment/whole/idle",
    }


def test_changes_in_place_and_replaces_another_identity(stack: Stack, client: Client) -> None:
    stack.write({"config": _config("default", {"a": "1", "b": "1"})})
    assert stack.apply().returncode == 0
    first = stack.state()["config"]["uid"]
    stack.write({"config": _config("default", {"a": "2"})})
    assert stack.apply().returncode == 0
    assert stack.state()["config"]["uid"] == first
    live = client.get(Ref("v1", "ConfigMap", "settings", "default"))
    assert live is not None
    assert live["data"] == {"a": "2"}
    stack.write({"config": _config("default", {"a": "2"}, name="other")})
    done = stack.apply()
    assert done.returncode == 0, done.stderr
    assert client.get(Ref("v1", "ConfigMap", "settings", "default")) is None
    assert stack.state()["config"]["id"] == "v1/ConfigMap/default/other"
    assert stack.state()["config"]["uid"] != first


def test_says_why_a_workload_does_not_get_ready(stack: Stack, client: Client) -> None:
    stack.write(
        {"ns": _namespace("missing"), "idle": _deployment("missing", image="itbc.local/nowhere:1")}, timeout_seconds=8
    )
    done = stack.apply()
    assert done.returncode == 1
    text = " ".join(done.stderr.replace("│", " ").split())
    assert "Deployment idle in missing isn't ready after 8 s: 0 of 2 available" in text
    assert "container idle: ErrImagePull" in text or "container idle: ImagePullBackOff" in text
    assert stack.state()["idle"]["tainted"]
    assert stack.destroy().returncode == 0
    assert client.get(Ref("apps/v1", "Deployment", "idle", "missing")) is None


def test_says_that_a_container_dies(stack: Stack) -> None:
    stack.write({"ns": _namespace("dying"), "idle": _deployment("dying", command=["/nothing-here"])}, timeout_seconds=6)
    done = stack.apply()
    assert done.returncode == 1
    assert "nothing-here" in done.stderr


def test_sees_what_was_deleted_and_what_was_made_again(stack: Stack, client: Client) -> None:
    config = _config("default", {"a": "1"})
    ref = Ref("v1", "ConfigMap", "settings", "default")
    stack.write({"config": config})
    assert stack.apply().returncode == 0
    _remove(client, ref)
    assert stack.plan() == 2
    assert stack.apply().returncode == 0
    _remove(client, ref)
    client.create(_config("default", {"a": "other"}))
    assert stack.plan() == 2
    done = stack.apply()
    assert done.returncode == 0, done.stderr
    live = client.get(ref)
    assert live is not None
    assert live["data"] == {"a": "1"}
    assert stack.plan() == 0


def test_leaves_alone_what_is_not_ours(stack: Stack, client: Client) -> None:
    client.create(_namespace("theirs"))
    client.create(_config("theirs", {"a": "theirs"}))
    stack.write({"config": _config("theirs", {"a": "ours"})})
    done = stack.apply()
    assert done.returncode == 1
    assert "ConfigMap settings in theirs exists already" in done.stderr
    assert stack.state() == {}
    assert stack.destroy().returncode == 0
    live = client.get(Ref("v1", "ConfigMap", "settings", "theirs"))
    assert live is not None
    assert live["data"] == {"a": "theirs"}
    client.delete(Ref("v1", "Namespace", "theirs"))


def test_applies_a_definition_and_an_object_of_it(stack: Stack, client: Client) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    gadget = {"apiVersion": "example.org/v1", "kind": "Gadget", "metadata": {"name": "one"}, "spec": {"size": 3}}
    stack.write({"definition": definition, "gadget": gadget})
    done = stack.apply()
    assert done.returncode == 0, done.stderr
    assert stack.state()["gadget"]["id"] == "example.org/v1/Gadget//one"
    assert [thing["spec"] for thing in client.objects("Gadget", "default")] == [{"size": 3}]
    assert stack.plan() == 0


def test_reports_what_the_api_server_refuses(stack: Stack) -> None:
    config = _config("default", {})
    config["data"] = {"a": 1}
    stack.write({"config": config})
    done = stack.apply()
    assert done.returncode == 1
    assert "Can't create ConfigMap settings in default" in done.stderr
    stack.write({"config": _config("default", {"a": "1"})})
    done = stack.apply()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("manifest", "said"),
    [("{", "isn't JSON"), ("[]", "isn't a JSON object"), ('{"kind": "X"}', "no apiVersion and no metadata.name")],
)
def test_checks_the_manifest_before_anything_happens(stack: Stack, manifest: str, said: str) -> None:
    stack.write({"thing": {}})
    document = json.loads((stack.folder / "main.tf.json").read_text())
    document["resource"]["itbc_kubernetes_object"]["thing"]["manifest"] = manifest
    (stack.folder / "main.tf.json").write_text(json.dumps(document))
    done = stack.run("validate")
    stack.write({})
    assert done.returncode == 1
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_destroy_succeeds_when_the_cluster_is_gone(stack: Stack, tmp_path: Path) -> None:
    copied = tmp_path / "copy.kubeconfig"
    copied.write_bytes(stack.kubeconfig.read_bytes())
    original, stack.kubeconfig = stack.kubeconfig, copied
    stack.write({"config": _config("default", {"a": "1"}, name="one"), "more": _config("default", {}, name="two")})
    assert stack.apply().returncode == 0
    config = json.loads(copied.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    copied.write_text(json.dumps(config))
    assert stack.plan() == 2
    done = stack.destroy()
    assert done.returncode == 0, done.stderr
    assert stack.state() == {}
    for name in ("one", "two"):
        assert sweep("", {"kubeconfig": str(original), "id": f"v1/ConfigMap/default/{name}"}) == [
            f"ConfigMap {name} in default"
        ]
        assert sweep("", {"kubeconfig": str(original), "id": f"v1/ConfigMap/default/{name}"}) == []
    copied.unlink()
    assert sweep("", {"kubeconfig": str(copied), "id": "v1/ConfigMap/default/one"}) == []


def test_a_token_may_what_its_account_may_and_dies_with_what_it_is_bound_to(
    client: Client, kubeconfig: Path, tmp_path: Path
) -> None:
    client.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "worker", "namespace": "default"}})
    bound = client.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "worker", "namespace": "default"}})
    config = json.loads(kubeconfig.read_text())
    config["users"][0]["user"] = {"token": client.token("worker", "default", 900, bound)}
    path = tmp_path / "worker.kubeconfig"
    path.write_text(json.dumps(config))
    with Client.from_kubeconfig(path) as worker, pytest.raises(ApiError) as refused:
        worker.list_objects("v1", "Secret", "default")
    assert refused.value.status == 403
    assert "system:serviceaccount:default:worker" in str(refused.value)
    client.delete(Ref("v1", "Secret", "worker", "default"))

    def unknown() -> bool | None:
        with Client.from_kubeconfig(path) as worker, pytest.raises(ApiError) as said:
            worker.list_objects("v1", "Secret", "default")
        return True if said.value.status == 401 else None

    # The API server may believe a token that it has checked for some seconds more.
    assert Patience().until(unknown, 60.0)
    client.delete(Ref("v1", "ServiceAccount", "worker", "default"))


def test_snapshot_hides_secrets_and_shows_changes(client: Client) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "key",
            "namespace": "default",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": '{"data": "hunter2"}'},
        },
        "stringData": {"password": "hunter2"},
    }
    client.apply(secret)
    before = [s for s in snapshot(client, "shop", ["default"], ["Secret", "ConfigMap"]) if s.entity.kind == "Secret"]
    client.patch(Ref("v1", "Secret", "key", "default"), {"stringData": {"password": "hunter3"}})
    after = [s for s in snapshot(client, "shop", ["default"], ["Secret"]) if s.entity.name == "key"]
    client.delete(Ref("v1", "Secret", "key", "default"))
    assert [s.entity.name for s in before] == ["key"]
    assert "hunter2" not in str(before)
    assert before[0].object["data"]["password"].startswith("sha256:")
    assert before[0].uid == after[0].uid
    assert before[0].object["data"] != after[0].object["data"]
