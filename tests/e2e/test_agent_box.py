"""The agent's box around a real scenario: every way out and every way to the truth, tried by a real agent.

Each attempt is made twice at the same time: by the agent, where it must fail, and by an administrator outside, where it
must get through. So an attempt that fails for another reason (a wrong path, a service that isn't there) proves nothing
and is found.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.e2e

CHECKOUT = Path(__file__).parents[2]
SCENARIO = CHECKOUT / "scenarios" / "sre" / "checkout-wrong-payment-address"
PROGRAM = Path(__file__).with_name("box")
KEY = "sk-e2e-0123456789/abcdefghijklmnop"
TELLING = ("checkout-wrong-payment-address", "wrong-address", "another-wrong-port", "evaluation.json")
"""Words that would give the truth away, or that there is one."""

AGENT = """#!/bin/sh
until test -e places.json; do sleep 0.2; done
python3 -B "$1" places.json > outcomes.part && mv outcomes.part outcomes.json
until test -e seen; do sleep 0.2; done
echo "key: $MODEL_API_KEY"
kubectl get deployment checkout -o name
timeout 4 kubectl get pods --watch --output-watch-events | head -n 2
timeout 4 kubectl logs --follow deployment/frontend --tail=2 | head -n 2
echo '{"root_causes": [], "explanation": "I used '$MODEL_API_KEY'"}' > "$ITBC_ANSWER"
"""

MAY = [
    *(
        f"{verb} {what} -n shop"
        for verb in ("get", "list", "watch")
        for what in ("pods", "deployments.apps", "services")
    ),
    "get pods --subresource=log -n shop",
    "get events.events.k8s.io -n shop",
    *(f"{verb} deployments.apps -n shop" for verb in ("create", "delete", "patch", "update")),
    "patch deployments.apps --subresource=scale -n shop",
    "patch services -n shop",
    "update configmaps -n shop",
    "delete pods -n shop",
    "create networkpolicies.networking.k8s.io -n shop",
]
MAY_NOT = [
    "* *",
    "get secrets -n shop",
    "list secrets -n default",
    "create pods -n shop",
    "patch pods -n shop",
    "create pods --subresource=exec -n shop",
    "create pods --subresource=attach -n shop",
    "create pods --subresource=portforward -n shop",
    "create pods --subresource=eviction -n shop",
    "patch pods --subresource=ephemeralcontainers -n shop",
    "get services --subresource=proxy -n shop",
    "get pods --subresource=proxy -n shop",
    "create serviceaccounts --subresource=token -n shop",
    "create serviceaccounts -n shop",
    "create jobs.batch -n shop",
    "create daemonsets.apps -n shop",
    "impersonate users",
    "impersonate groups",
    "impersonate serviceaccounts -n kube-system",
    *(f"{verb} roles.rbac.authorization.k8s.io -n shop" for verb in ("get", "create", "patch", "bind", "escalate")),
    "create rolebindings.rbac.authorization.k8s.io -n shop",
    "create clusterrolebindings.rbac.authorization.k8s.io",
    "create certificatesigningrequests.certificates.k8s.io",
    "create validatingwebhookconfigurations.admissionregistration.k8s.io",
    "create persistentvolumes",
    "get nodes",
    "get nodes --subresource=proxy",
    "patch namespaces",
    "delete namespaces",
    "get pods -n kube-system",
    "get configmaps -n kube-system",
    "get configmaps -n default",
    "get /metrics",
    "get /logs",
]

NO_CONTROL = {
    "tracing-the-first-process": "it would stop the machine",
    "mounting": "it would change the machine",
    "uncovering-in-a-namespace-of-its-own": "there is nothing to uncover outside",
    "secrets-in-the-list-of-mounts": "nothing is mounted over anything outside",
    "containerd": "the node's has its socket in its own mount namespace",
    "etcd": "it listens within the node only",
    "addresses-of-the-internet": "these addresses are nobody's",
    "telemetry-that-tells-of-a-test": "it is the same outside",
    **{
        f"{kind}-with-{what}": "the namespace's rules are the administrator's too"
        for kind in ("pod", "deployment")
        for what in (
            "a-folder-of-the-node",
            "all-rights",
            "the-nodes-network",
            "the-nodes-processes",
            "a-port-of-the-node",
            "a-right-of-the-kernel",
        )
    },
}
"""What isn't tried by an administrator, and why. The attempt's own evidence says why it failed."""

OPEN = {"service-that-was-granted", "deployment-with-nothing-special"}
"""What an agent gets through with: that the others fail isn't because nothing works."""


ATTEMPTS: list[str] = json.loads(
    subprocess.run([sys.executable, "-B", str(PROGRAM)], capture_output=True, check=True, timeout=60).stdout
)


@dataclass(frozen=True)
class Tried:
    """What came of the attempts, by name: inside and outside, whether it got through and what it saw."""

    inside: dict[str, tuple[bool, str]]
    outside: dict[str, tuple[bool, str]]
    rights: dict[str, list[str]]
    run: Path
    said: str


class Taking(socketserver.BaseRequestHandler):
    """Takes a connection, and no more."""


@contextmanager
def services(stack: ExitStack) -> Generator[dict[str, Any]]:
    """Things of this machine that no agent may reach, and one that it may."""
    name = f"itbc-e2e-{os.getpid()}"
    run = Path("/run") / f"{name}.sock"
    servers = [socketserver.ThreadingTCPServer(("0.0.0.0", 0), Taking) for _ in range(2)]  # noqa: S104 - on all of them
    for server in servers:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
    for address in (str(run), f"\0{name}"):
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(address)
        listening.listen()
    stack.callback(run.unlink)
    run.chmod(0o777)
    temporary = [Path(folder) / f"{name}.txt" for folder in ("/tmp", "/var/tmp", "/dev/shm")]  # noqa: S108 - the sense
    for path in temporary:
        path.write_text("somebody else's")
        path.chmod(0o644)
        stack.callback(path.unlink)
    listed = json.loads(subprocess.run(["ip", "-j", "-4", "addr"], capture_output=True, check=True).stdout)
    yield {
        "port": servers[0].server_address[1],
        "granted_port": servers[1].server_address[1],
        "addresses": [info["local"] for link in listed for info in link["addr_info"] if info["local"] != "127.0.0.1"],
        "abstract": name,
        "socket": str(run),
        "temporary": [str(path) for path in temporary],
        "canary": name,
    }


@pytest.fixture(scope="module")
def tried() -> Generator[Tried]:
    # Short, because sockets lie in it; not in /tmp, which an agent doesn't see anyway.
    home = Path(tempfile.mkdtemp(prefix="itbc-e2e-", dir="/var/lib"))
    # What is beside an agent's program is the agent's to see.
    programs = Path(tempfile.mkdtemp(prefix="itbc-e2e-agent-", dir="/var/lib"))
    environment = {**os.environ, "ITBC_HOME": str(home), "MODEL_API_KEY": KEY}
    itbc = str(Path(sys.executable).parent / "itbc")
    try:
        with ExitStack() as stack:
            places = stack.enter_context(services(stack))
            environment["ITBC_E2E_CANARY"] = places["canary"]
            yield _try(stack, home, programs, environment, [itbc], places)
    finally:
        subprocess.run([itbc, "gc"], env=environment, check=True, timeout=300)
        shutil.rmtree(home)
        shutil.rmtree(programs)


def _try(
    stack: ExitStack,
    home: Path,
    programs: Path,
    environment: dict[str, str],
    itbc: list[str],
    places: dict[str, Any],
) -> Tried:
    programs.chmod(0o755)
    agent, attempts, setuid = programs / "agent", programs / "attempts", programs / "setuid-id"
    agent.write_text(AGENT)
    shutil.copytree(PROGRAM, attempts, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(shutil.which("id") or "id", setuid)
    for path, mode in ((agent, 0o755), (setuid, 0o4755)):
        path.chmod(mode)
    granted = ["--agent-env", "MODEL_API_KEY", "--agent-net", f"localhost:{places['granted_port']}"]
    runner = stack.enter_context(
        subprocess.Popen(
            [*itbc, "run", str(SCENARIO), *granted, "--agent", "command", "--", str(agent), str(attempts)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            cwd=CHECKOUT,
            start_new_session=True,
        )
    )
    step = _until(lambda: next(home.glob("runs/*/steps/*-agent.json"), None), runner, 300)
    (access,) = json.loads(step.read_text())["input"]["accesses"]
    run = step.parents[1]
    work = home / "agents" / run.name / "work"
    server = urlsplit(
        json.loads(
            subprocess.run(
                [_kubectl(), "config", "view", "--output=json", f"--kubeconfig={access['kubeconfig']}"],
                capture_output=True,
                check=True,
            ).stdout
        )["clusters"][0]["cluster"]["server"]
    )
    places |= {
        "scenario": str(SCENARIO),
        "checkout": str(CHECKOUT),
        "home": str(home),
        "cache": os.environ.get("ITBC_CACHE", "/var/cache/itbc"),
        "run": str(run),
        "name": run.name,
        "workspace": str(work.parent),
        "runner": runner.pid,
        "setuid": str(setuid),
        "node": server.hostname,
        "granted": [server.port, *(urlsplit(url).port for url in access["signals"].values())],
        "prometheus": access["signals"]["metrics"],
        "alertmanager": access["signals"]["alerts"],
        "telling": TELLING,
        "rights": {"yes": MAY, "no": MAY_NOT},
        "without": [],
    }
    (programs / "places").write_text(json.dumps(places))
    shutil.copyfile(programs / "places", work / "places.part")
    (work / "places.part").chmod(0o644)
    (work / "places.part").rename(work / "places.json")
    inside = json.loads(_until(lambda: _text(work / "outcomes.json"), runner, 300))
    (programs / "places").write_text(json.dumps({**places, "rights": {}, "without": [*NO_CONTROL, *OPEN]}))
    outside = subprocess.run(
        [sys.executable, "-B", str(attempts), str(programs / "places")],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "KUBECONFIG": access["kubeconfig"],
            "PATH": f"{Path(_kubectl()).parent}:{os.environ['PATH']}",
        },
        cwd=programs,
        check=True,
        timeout=300,
    ).stdout
    (work / "seen").touch()
    said, _ = runner.communicate(timeout=300)
    return Tried(inside["outcomes"], json.loads(outside)["outcomes"], inside["rights"], run, said)


def _kubectl() -> str:
    return str(Path(sys.executable).parent / "kubectl")


def _text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def _until(probe: Callable[[], Any], runner: subprocess.Popen[str], seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while (found := probe()) is None:
        assert runner.poll() is None, runner.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


@pytest.mark.parametrize("name", [each for each in ATTEMPTS if each not in OPEN])
def test_no_attempt_gets_through(tried: Tried, name: str) -> None:
    through, evidence = tried.inside[name]
    assert not through, evidence
    assert evidence


@pytest.mark.parametrize("name", sorted(OPEN))
def test_what_is_granted_gets_through(tried: Tried, name: str) -> None:
    through, evidence = tried.inside[name]
    assert through, evidence


@pytest.mark.parametrize("name", [each for each in ATTEMPTS if each not in {*NO_CONTROL, *OPEN}])
def test_the_same_attempt_gets_through_outside(tried: Tried, name: str) -> None:
    through, evidence = tried.outside[name]
    assert through, evidence


def test_every_attempt_was_made(tried: Tried) -> None:
    assert set(tried.inside) == set(ATTEMPTS)
    assert set(NO_CONTROL) | OPEN <= set(ATTEMPTS)
    assert len(ATTEMPTS) > 50


def test_the_tricks_in_an_own_namespace_were_tried_as_its_root(tried: Tried) -> None:
    evidence = tried.inside["uncovering-in-a-namespace-of-its-own"][1]
    assert evidence.startswith("user 0\n")


def test_it_is_the_namespaces_rules_that_refuse_pods(tried: Tried) -> None:
    refused = {
        name: said for name, (_, said) in tried.inside.items() if name.startswith("deployment-") and name not in OPEN
    }
    assert len(refused) == 6
    for name, said in refused.items():
        assert "violates PodSecurity" in said, name


def test_ports_of_the_node_are_exactly_those_that_were_granted(tried: Tried) -> None:
    evidence = tried.inside["ports-of-the-node-that-were-not-granted"][1]
    (access,) = json.loads(next(tried.run.glob("steps/*-agent.json")).read_text())["input"]["accesses"]
    granted = sorted({6443, *(urlsplit(url).port for url in access["signals"].values())})
    assert evidence.endswith(f": {granted}")


def test_rights_are_as_granted(tried: Tried) -> None:
    assert tried.rights == {}


def test_long_connections_go_through(tried: Tried) -> None:
    lines = (tried.run / "agent" / "stdout").read_text().splitlines()
    assert lines[0] == "key: [MODEL_API_KEY]"
    assert lines[1] == "deployment.apps/checkout"
    assert lines[2].split()[0] == "EVENT"
    assert lines[3].split()[0] == "ADDED"
    assert all(json.loads(line)["service"] == "frontend" for line in lines[4:])
    assert len(lines) == 6


def test_what_was_lent_is_recorded_by_name_only(tried: Tried) -> None:
    agent = json.loads((tried.run / "evidence.json").read_text())["agent"]
    assert agent["variables"] == ["MODEL_API_KEY"]
    assert agent["addresses"][0].startswith("localhost:")
    assert agent["answer"]["explanation"] == "I used [MODEL_API_KEY]"
    assert "Beyond the scenario it was granted MODEL_API_KEY, localhost:" in " ".join(tried.said.split())
    for path in (each for each in tried.run.rglob("*") if each.is_file()):
        assert KEY[:12].encode() not in path.read_bytes(), path
    assert KEY not in tried.said
