"""A real cluster from Terraform's first apply to its last destroy, used the way a person uses one.

The tests share one cluster and run in the order they are written in: the last ones end it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from itbc.providers import embedded
from itbc.providers.embedded import process, record
from itbc.providers.embedded.layout import Layout
from itbc.providers.plugin import ADDRESS, Plugin
from itbc.providers.services import Services
from itbc.runner.outside.plugin_host import serve

pytestmark = pytest.mark.e2e

KUBECTL = str(Path(sys.executable).parent / "kubectl")

RULES = """
groups:
  - name: test
    rules:
      - alert: ProbeDown
        expr: up{job="pods",service="probe"} == 0 or absent(up{job="pods",service="probe"})
        labels: {severity: critical}
"""

NAMESPACE = "demo"
IMAGE = "itbc.local/probe:1"

MANIFESTS = """
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: probe, namespace: demo, labels: {app.kubernetes.io/name: probe}}
spec:
  replicas: 1
  selector: {matchLabels: {app.kubernetes.io/name: probe}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: probe}
      annotations: {prometheus.io/scrape: "true", prometheus.io/port: "8080", prometheus.io/path: /metrics}
    spec:
      containers:
        - name: probe
          image: itbc.local/probe:1
          args: [serve]
          ports: [{containerPort: 8080}]
          readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
          resources: {limits: {memory: 64Mi}}
          volumeMounts: [{name: node, mountPath: /node, readOnly: true}]
      volumes: [{name: node, hostPath: {path: /}}]
---
apiVersion: v1
kind: Service
metadata: {name: probe, namespace: demo}
spec:
  selector: {app.kubernetes.io/name: probe}
  ports: [{port: 80, targetPort: 8080}]
"""


@dataclass
class Notes:
    """A ledger that keeps what it is told."""

    entries: list[tuple[str, str, str]] = field(default_factory=list)
    details: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def intent(self, kind: str, identity: str, details: Mapping[str, Any]) -> None:
        self.entries.append(("intent", kind, identity))
        self.details[identity] = details

    def created(self, kind: str, identity: str) -> None:
        self.entries.append(("created", kind, identity))

    def gone(self, kind: str, identity: str) -> None:
        self.entries.append(("gone", kind, identity))


@dataclass
class Stand:
    """A cluster made by Terraform, and the machine as it was before."""

    folder: Path
    environment: dict[str, str]
    ledger: Notes
    progress: list[str]
    before: Mapping[str, frozenset[str]]
    identity: str
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        return Layout(self.folder / "clusters" / "first")

    def terraform(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ("terraform", *words),
            cwd=self.folder / "stack",
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def kubectl(self, *words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            (KUBECTL, "--kubeconfig", self.outputs["kubeconfig"], *words),
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def probe(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.kubectl("exec", "-n", NAMESPACE, "deploy/probe", "--", "/probe", *words)


def _module(folder: Path, run: str) -> dict[str, Any]:
    rules = folder / "rules.yml"
    rules.write_text(RULES)
    shutil.copytree(Path(__file__).with_name("probe"), folder / "probe")
    clusters = str(folder / "clusters")
    inside = {"cluster": "${itbc_embedded_cluster.first.id}", "state_dir": clusters}
    return {
        "terraform": {"required_providers": {"itbc": {"source": ADDRESS}}},
        "resource": {
            "itbc_embedded_cluster": {
                "first": {
                    "name": "first",
                    "run_id": run,
                    "state_dir": clusters,
                    "expires": "2999-01-01T00:00:00Z",
                    "nodes": 1,
                }
            },
            "itbc_embedded_image": {
                "probe": {**inside, "reference": IMAGE, "source": str(folder / "probe"), "source_digest": "1"}
            },
            "itbc_embedded_monitoring": {
                "it": {**inside, "rules": str(rules), "rules_digest": "1", "namespaces": [NAMESPACE], "masks": ""}
            },
        },
        "output": {
            "kubeconfig": {"value": "${itbc_embedded_cluster.first.kubeconfig}"},
            "address": {"value": "${itbc_embedded_cluster.first.address}"},
            "prometheus": {"value": "${itbc_embedded_monitoring.it.prometheus}"},
            "alertmanager": {"value": "${itbc_embedded_monitoring.it.alertmanager}"},
        },
    }


@pytest.fixture(scope="module")
def stand(
    tmp_path_factory: pytest.TempPathFactory, terraform_environment: dict[str, str], machine: ModuleType
) -> Iterator[Stand]:
    # So deep that no Unix socket's path would fit into an address.
    folder = tmp_path_factory.mktemp("cluster") / ("deep" * 15) / ("deep" * 15)
    (folder / "stack").mkdir(parents=True)
    run = f"test-{os.getpid()}"
    (folder / "stack" / "main.tf.json").write_text(json.dumps(_module(folder, run)))
    ledger, progress = Notes(), list[str]()
    cache = Path(os.environ.get("ITBC_CACHE", "/var/cache/itbc"))
    services = Services(home=folder, cache=cache, ledger=ledger, progress=progress.append)
    before = machine.snapshot(run)
    made = Stand(folder, {}, ledger, progress, before, f"{run}.first")
    with serve(Plugin(services, embedded.RESOURCES), tmp_path_factory.mktemp("plugin") / "host") as variables:
        made.environment = {**terraform_environment, **variables}
        try:
            assert made.terraform("init", "-input=false").returncode == 0
            yield made
        finally:
            embedded.SWEEPERS["embedded-cluster"](made.identity, {"state": str(made.layout.folder)})


def test_apply_brings_everything_up(stand: Stand) -> None:
    done = stand.terraform("apply", "-input=false", "-auto-approve")
    assert done.returncode == 0, done.stderr + done.stdout + "\n".join(stand.progress)
    listed = json.loads(stand.terraform("output", "-json").stdout)
    stand.outputs.update({name: value["value"] for name, value in listed.items()})
    kinds = [(event, identity) for event, _, identity in stand.ledger.entries]
    assert kinds == [("intent", stand.identity), ("created", stand.identity)]
    assert any("kube-apiserver ready" in line for line in stand.progress)


def test_a_second_plan_finds_nothing_to_do(stand: Stand) -> None:
    done = stand.terraform("plan", "-input=false", "-detailed-exitcode")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_state_is_closed_to_others(stand: Stand) -> None:
    assert stat.S_IMODE(stand.layout.folder.stat().st_mode) == 0o700
    secrets = [stand.layout.kubeconfig, *stand.layout.pki.glob("*.key"), *stand.layout.etc.glob("kubernetes/*.conf")]
    assert len(secrets) > 10
    assert {stat.S_IMODE(file.stat().st_mode) for file in secrets} == {0o600}


def test_kubectl_applies_what_someone_else_wrote(stand: Stand) -> None:
    applied = stand.kubectl("apply", "-f", "-", given=MANIFESTS)
    assert applied.returncode == 0, applied.stderr
    rolled = stand.kubectl("rollout", "status", "-n", NAMESPACE, "deploy/probe", "--timeout=60s")
    assert rolled.returncode == 0, rolled.stdout + stand.kubectl("get", "events", "-A").stdout
    node = json.loads(stand.kubectl("get", "node", "first-1", "-o", "json").stdout)
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.3"


def test_logs_and_exec(stand: Stand) -> None:
    logs = stand.kubectl("logs", "-n", NAMESPACE, "deploy/probe")
    assert "probe is listening" in logs.stdout, logs.stderr
    done = stand.probe("get", "http://localhost:8080/")
    assert done.stdout == "hello from the probe\n", done.stderr


def test_port_forward(stand: Stand) -> None:
    command = [KUBECTL, "--kubeconfig", stand.outputs["kubeconfig"], "port-forward", "-n", NAMESPACE, "svc/probe"]
    with subprocess.Popen([*command, ":80"], stdout=subprocess.PIPE, text=True) as forward:
        try:
            assert forward.stdout is not None
            found = re.search(r"127\.0\.0\.1:(\d+)", forward.stdout.readline())
            assert found is not None
            assert _get(f"http://127.0.0.1:{found[1]}/") == "hello from the probe\n"
        finally:
            forward.terminate()


def test_services_are_found_by_name_from_a_pod(stand: Stand) -> None:
    for name in ("probe", "probe.demo", "probe.demo.svc.cluster.local"):
        # A Service follows its pods with a short delay, here as anywhere.
        address = f"http://{name}/"
        _eventually(lambda url=address: stand.probe("get", url).stdout == "hello from the probe\n", address)


def test_names_outside_the_cluster_are_refused_at_once(stand: Stand) -> None:
    done = stand.probe("resolve", "example.com")
    assert done.returncode != 0
    assert "no such host" in done.stderr
    took = re.search(r"after (\d+) ms", done.stderr)
    assert took is not None
    assert int(took[1]) < 2000


def test_a_pod_reaches_neither_this_machine_nor_the_world(stand: Stand) -> None:
    gateway = _this_end(stand.outputs["address"])
    with socket.create_server(("", 0)) as listener:
        port = listener.getsockname()[1]
        outside = socket.gethostbyname(socket.gethostname())
        for address in (f"{gateway}:{port}", f"{outside}:{port}", "192.0.2.77:80", "1.1.1.1:53"):
            if address.startswith("127."):
                continue
            done = stand.probe("connect", address)
            assert done.returncode != 0, f"{address} can be reached from a pod"
    api = stand.probe("connect", "kubernetes.default.svc:443")
    assert api.stdout == "connected\n", api.stderr


def test_a_pod_with_the_nodes_root_sees_nothing_of_this_machine(stand: Stand) -> None:
    root = stand.probe("list", "/node").stdout.split()
    assert {"etc", "usr", "var", "proc"} <= set(root)
    assert stand.probe("list", "/node/root").stdout == ""
    assert stand.probe("list", "/node/home").stdout == ""
    # What exec itself leaves there for a moment is the node's own.
    assert all(name.startswith("runc-") for name in stand.probe("list", "/node/tmp").stdout.split())
    assert stand.probe("list", f"/node{stand.folder}").returncode != 0


def test_prometheus_scrapes_everything(stand: Stand) -> None:
    wanted = {
        ("pods", ""),
        ("kube-state-metrics", ""),
        ("apiserver", ""),
        ("kubelet", "/metrics"),
        ("kubelet", "/metrics/cadvisor"),
        ("kubelet", "/metrics/probes"),
    }

    def up() -> bool:
        samples = _query(stand, "up")
        seen = {(each["metric"]["job"], each["metric"].get("metrics_path", "")) for each in samples}
        return seen == wanted and all(each["value"][1] == "1" for each in samples)

    _eventually(up, "every target up")
    samples = _query(stand, "probe_requests_total")
    assert len(samples) == 1, samples
    labels = samples[0]["metric"]
    assert (labels["namespace"], labels["service"]) == (NAMESPACE, "probe")
    assert labels["pod"].startswith("probe-")
    pods = 'container_memory_working_set_bytes{container="probe",namespace="demo"}'
    _eventually(lambda: bool(_query(stand, pods)), "container metrics with names")
    assert _query(stand, 'kube_deployment_status_replicas_available{namespace="demo",deployment="probe"} == 1')


def test_an_alert_reaches_alertmanager(stand: Stand) -> None:
    assert _get(f"{stand.outputs['alertmanager']}/-/ready") == "OK"
    assert stand.kubectl("scale", "-n", NAMESPACE, "deploy/probe", "--replicas=0").returncode == 0

    def firing() -> bool:
        alerts = json.loads(_get(f"{stand.outputs['alertmanager']}/api/v2/alerts"))
        return any(alert["labels"]["alertname"] == "ProbeDown" for alert in alerts)

    _eventually(firing, "the alert")


def test_wrong_arguments_are_refused_before_anything_is_made(stand: Stand) -> None:
    module = json.loads((stand.folder / "stack" / "main.tf.json").read_text())
    second = dict(module["resource"]["itbc_embedded_cluster"]["first"], name="second", nodes=3)
    folder = stand.folder / "wrong"
    folder.mkdir()
    content = {"terraform": module["terraform"], "resource": {"itbc_embedded_cluster": {"second": second}}}
    (folder / "main.tf.json").write_text(json.dumps(content))
    done = subprocess.run(
        ("terraform", "plan", "-input=false", "-no-color"),
        cwd=folder,
        env=stand.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "exactly 1 node" in done.stderr


def test_the_api_servers_end_is_survived(stand: Stand) -> None:
    state = record.load(stand.layout.folder)
    assert state is not None
    victim = next(pid for pid in _inside(stand) if "kube-apiserver" in _command(pid))
    os.kill(victim, 9)
    _eventually(lambda: stand.kubectl("get", "--raw", "/readyz").stdout == "ok", "the API server again")
    assert stand.terraform("plan", "-input=false", "-detailed-exitcode").returncode == 0


def test_a_dead_cluster_is_planned_for_replacement_and_gone_after_destroy(stand: Stand, machine: ModuleType) -> None:
    host = process.load(stand.layout.host)
    assert host is not None
    for pid in process.children(host.pid):
        os.kill(pid, 9)
    _eventually(lambda: not process.alive(host), "the end of the node host")
    _eventually(lambda: _unreachable(stand.outputs["address"]), "the end of the link")
    planned = stand.terraform("plan", "-input=false", "-detailed-exitcode", "-no-color")
    assert planned.returncode == 2, planned.stderr
    assert "itbc_embedded_cluster.first must be replaced" in planned.stdout
    destroyed = stand.terraform("destroy", "-input=false", "-auto-approve", "-no-color")
    assert destroyed.returncode == 0, destroyed.stderr
    assert stand.ledger.entries[-1][:2] == ("gone", "embedded-cluster")
    assert not stand.layout.folder.exists()
    assert machine.settled(stand.before, stand.identity) == []


def _inside(stand: Stand) -> list[int]:
    host = process.load(stand.layout.host)
    assert host is not None
    (first,) = process.children(host.pid)
    return process.children(first)


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def _unreachable(address: str) -> bool:
    """Whether this machine itself says that there is no way, instead of asking its gateway."""
    try:
        socket.create_connection((address, 6443), timeout=2).close()
    except OSError as wrong:
        return wrong.errno == errno.EHOSTUNREACH
    return False


def _this_end(address: str) -> str:
    head, _, last = address.rpartition(".")
    return f"{head}.{int(last) - 1}"


def _get(url: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=10) as response:
        return str(response.read().decode())


def _query(stand: Stand, expression: str) -> list[dict[str, Any]]:
    url = f"{stand.outputs['prometheus']}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
    result: list[dict[str, Any]] = json.loads(_get(url))["data"]["result"]
    return result


def _eventually(holds: Callable[[], bool], what: str, seconds: float = 40.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return
        except (urllib.error.URLError, TimeoutError):
            pass
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.1)
