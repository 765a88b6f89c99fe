"""Bringing a cluster up."""

from __future__ import annotations

import datetime as dt
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from itbc.providers.cgroups import hierarchies
from itbc.providers.embedded import (
    cgroups,
    components,
    control,
    dns,
    images,
    network,
    nodefiles,
    pki,
    record,
    rights,
    runtime,
)
from itbc.providers.embedded import spec as specs
from itbc.providers.embedded.destroy import destroy
from itbc.providers.embedded.errors import EmbeddedError, NodeHostDied
from itbc.providers.embedded.files import write
from itbc.providers.embedded.guard import ruleset
from itbc.providers.embedded.kubeconfig import write_kubeconfig
from itbc.providers.embedded.layout import Layout
from itbc.providers.embedded.liveness import open_api
from itbc.providers.embedded.record import ClusterState
from itbc.providers.embedded.spec import LEDGER_KIND, ClusterSpec
from itbc.providers.embedded.supervisor.plan import Plan, Start
from itbc.providers.embedded.waiting import wait_for
from itbc.providers.services import Services
from itbc.stacks.toolchain import ToolchainError, node_program

_PATIENCE = 120.0
"""Seconds for each step; a few are typical, but a machine can be very busy."""

MASKS = {
    "kernel/keys/root_maxbytes": "25000000",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
}
"""The sysctls of the whole machine that the kubelet insists on."""

SYSCTLS = {
    "net/bridge/bridge-nf-call-iptables": "1",
    "net/ipv4/ip_forward": "1",
    "net/ipv6/conf/eth0/disable_ipv6": "1",
}


@dataclass(frozen=True, slots=True)
class _Report:
    """Lines of progress with the time since the start."""

    name: str
    began: float
    say: Callable[[str], None]

    def __call__(self, line: str) -> None:
        self.say(f"cluster {self.name}: {line} ({time.monotonic() - self.began:.1f} s)")


def boot(spec: ClusterSpec, services: Services) -> ClusterState:
    """Make a cluster and wait until its node is ready, workloads can be created, and its DNS answers.

    What an earlier attempt with the same id has left is removed first. When
    this fails, what exists so far stays, for the ledger knows of it:
    `destroy` removes it. Raises EmbeddedError.
    """
    wrong = specs.problems(spec)
    if wrong:
        raise EmbeddedError("; ".join(message for _, message in wrong))
    report = _Report(spec.name, time.monotonic(), services.progress)
    program = _program(services)
    announce(spec, services)
    destroy(spec.identity, spec.folder, spec.range)
    state = _start(spec, program)
    report(f"node host started, address {state.address}")
    _bring_up(state, services, report)
    services.ledger.created(LEDGER_KIND, spec.identity)
    return state


def announce(spec: ClusterSpec, services: Services) -> None:
    """Tell the ledger, before anything is made, all that is needed to remove it."""
    details = {"state": str(spec.folder), "range": str(spec.range), "expires": spec.expires}
    services.ledger.intent(LEDGER_KIND, spec.identity, details)


def _program(services: Services) -> Path:
    try:
        return node_program(services.cache, services.progress)
    except ToolchainError as wrong:
        raise EmbeddedError(wrong.message, wrong.remedy) from wrong


def _start(spec: ClusterSpec, program: Path) -> ClusterState:
    layout = Layout(spec.folder)
    layout.folder.mkdir(mode=0o700, parents=True)
    layout.root.mkdir(mode=0o755)
    link = network.reserve(spec.identity, spec.range)
    state = ClusterState(
        identity=spec.identity,
        name=spec.name,
        folder=spec.folder,
        node_name=spec.node_name,
        address=str(link.node),
        link=link.name,
        range=spec.range,
        program=program,
        expires=spec.expires,
    )
    record.save(state)
    cgroup = specs.cgroup_name(spec.identity)
    pki.create(layout.pki, spec.node_name, state.address, dt.datetime.now(dt.UTC))
    nodefiles.write_all(layout, cgroup, spec.node_name, link.node)
    write_kubeconfig(layout.kubeconfig, spec.name, state.address, layout.pki, "admin")
    groups = cgroups.create(cgroup, hierarchies())
    plan = Plan(
        hostname=spec.node_name,
        cgroups=[str(group) for group in groups],
        program=str(program),
        program_names=components.NODE_PROGRAMS,
        cni_programs=cni_folder(),
        address=state.address,
        prefix=30,
        guard=ruleset(link.node),
        masks=MASKS,
        sysctls=SYSCTLS,
        first=[Start(each.name, list(each.command)) for each in components.first(link.node)],
    )
    write(layout.plan, plan.to_json())
    network.hand_over(link, _launch(layout))
    return state


def _launch(layout: Layout) -> int:
    """Start the node host in a session of its own, so that a Ctrl-C for us isn't one for the cluster."""
    log = (os.POSIX_SPAWN_OPEN, 1, str(layout.supervisor_log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    # Not `subprocess`: the process outlives this one, and whoever destroys it takes note of its end.
    return os.posix_spawn(
        sys.executable,
        (sys.executable, "-I", "-m", "itbc.providers.embedded.supervisor", "launch", str(layout.folder)),
        {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"},
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), log, (os.POSIX_SPAWN_DUP2, 1, 2)],
        setsid=True,
    )


def cni_folder() -> str:
    """Where this machine has the pod network's plug-ins. Raises EmbeddedError where it hasn't."""
    for folder in network.CNI_FOLDERS:
        if Path(folder, "bridge").exists():
            return folder
    raise EmbeddedError("the CNI plug-ins are missing", "apt-get install containernetworking-plugins")


def _bring_up(state: ClusterState, services: Services, report: Callable[[str], None]) -> None:
    try:
        with ThreadPoolExecutor(max_workers=1) as pool, open_api(state) as api:
            # The container runtime is up long before the API server: what needs only the former happens meanwhile.
            node_side = pool.submit(_bring_up_node_side, state, services)
            wait_for("the API server's readiness", api.ready, _PATIENCE)
            report("kube-apiserver ready")
            _start_all(state, components.with_api())
            for path, manifest in (*rights.node(), *dns.objects()):
                api.apply(path, manifest)
            _start_all(state, components.with_rights())
            node_side.result()
            node = f"/api/v1/nodes/{state.node_name}"
            wait_for("the node's readiness", lambda: _node_ready(api.get(node)), _PATIENCE)
            report("node ready")
            account = "/api/v1/namespaces/default/serviceaccounts/default"
            wait_for("the default service account", lambda: api.get(account), _PATIENCE)
            deployment = f"/apis/apps/v1/namespaces/{dns.NAMESPACE}/deployments/{dns.NAME}"
            wait_for("cluster DNS", lambda: dns.available(api.get(deployment)), _PATIENCE)
            report("cluster DNS ready")
    except NodeHostDied as died:
        raise NodeHostDied(f"{died}; its last words: {_last_words(state.layout)}") from died


def _bring_up_node_side(state: ClusterState, services: Services) -> None:
    pause = images.build(Path(__file__).parent / "pause", nodefiles.PAUSE_IMAGE, services.cache, services.progress)
    wait_for("the container runtime", lambda: runtime.ready(state.layout), _PATIENCE)
    _start_all(state, components.with_runtime(IPv4Address(state.address), state.node_name))
    runtime.import_image(state.layout, pause.tar)


def _start_all(state: ClusterState, started: Sequence[components.Component]) -> None:
    for each in started:
        control.start(state.layout, each.name, each.command)


def _node_ready(node: dict[str, Any] | None) -> bool:
    conditions = [] if node is None else node.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _last_words(layout: Layout) -> str:
    try:
        return layout.supervisor_log.read_text(errors="replace").strip()[-1500:] or "none"
    except OSError:
        return "none"
