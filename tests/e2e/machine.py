"""What clusters could leave behind on this machine: taken down before and after, and compared.

Clusters of somebody else may come and go meanwhile. They are known by their
cgroups, and everything of theirs is left out; whatever else is there counts.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from itbc.providers.embedded.spec import link_address

Snapshot = Mapping[str, frozenset[str]]
"""Kind of thing to the things, a line each."""

_CGROUP = re.compile(r"/itbc-([^/\s]+)")
_UNDEAD = re.compile(r"unshare|python3?|containerd.*|node|kube.*|etcd|prometheus.*|pause|nsenter|ctr")
_UNREACHABLE = re.compile(r"unreachable .* proto 213\b")
_MAY_GO = frozenset({"processes", "network namespaces"})
"""Of these only more is a leak: what was there before may end by itself."""

_SYSCTLS = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "net/ipv4/ip_forward",
    "net/netfilter/nf_conntrack_max",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
_TELLING = re.compile(r"cni|containerd|containers|etcd|itbc|kube|mount|netns|node|pods|prometheus|alertmanager|runc")
"""Names of files that a node's programs make, where other programs make theirs too."""

_FOLDERS = ("/", "/etc", "/etc/cni", "/opt", "/run", "/run/netns", "/var", "/var/lib", "/var/lib/cni", "/var/log")


@dataclass(frozen=True)
class _Others:
    """Clusters that aren't ours: their ids, links and network namespaces."""

    identities: frozenset[str]
    links: frozenset[str]
    namespaces: frozenset[str]


def snapshot(mine: str) -> Snapshot:
    """The machine as it is now. `mine` begins the id of every cluster that counts."""
    others = _others(mine)
    return {
        "processes": _processes(mine, others),
        "mounts": _mounts(mine),
        "network namespaces": _network_namespaces() - others.namespaces,
        "links": _without(others, _lines("ip", "-o", "link")),
        "addresses": _without(others, _lines("ip", "-o", "address")),
        "routes": _without(others, _lines("ip", "route", "show", "table", "all"))
        | _without(others, _lines("ip", "-6", "route", "show", "table", "all")),
        "cgroups": frozenset(folder for folder in _cgroups() if _identity(folder) not in others.identities),
        "packet filters": _lines("nft", "list", "ruleset") | _lines("iptables-save") | _lines("ip6tables-save"),
        "sysctls": frozenset(f"{name} = {text}" for name in _SYSCTLS if (text := _read(f"/proc/sys/{name}"))),
        "files": frozenset(
            f"{folder}/{name}"
            for folder in _FOLDERS
            for name in _listed(folder)
            # Tests that run at the same time have files of their own, and take care of them.
            if _TELLING.search(name) and not name.startswith("itbc-e2e-")
        ),
    }


def difference(before: Snapshot, after: Snapshot) -> list[str]:
    """What has come and what has gone, a line each; empty where nothing has."""
    found: list[str] = []
    for kind, things in before.items():
        found += [f"{kind}: + {line}" for line in sorted(after[kind] - things)]
        if kind not in _MAY_GO:
            found += [f"{kind}: - {line}" for line in sorted(things - after[kind])]
    return found


def settled(before: Snapshot, mine: str, seconds: float = 20.0) -> list[str]:
    """The difference to now, once it is empty or time is up: the last remains of a process take the kernel a moment."""
    deadline = time.monotonic() + seconds
    while True:
        found = difference(before, snapshot(mine))
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def _others(mine: str) -> _Others:
    identities = frozenset(name for folder in _cgroups() if (name := _identity(folder)) and not name.startswith(mine))
    addresses = {link_address(identity) for identity in identities}
    links = frozenset(
        name for name in _listed("/sys/class/net") if _read(f"/sys/class/net/{name}/address") in addresses
    )
    processes = frozenset(
        folder.name for folder in Path("/proc").glob("[0-9]*") if _identity(_read(str(folder / "cgroup"))) in identities
    )
    namespaces = frozenset(_link(f"/proc/{pid}/ns/net") for pid in processes) - {_link("/proc/self/ns/net")}
    return _Others(identities, links, namespaces)


def _identity(text: str) -> str:
    found = _CGROUP.search(text)
    return found[1] if found else ""


def _without(others: _Others, lines: frozenset[str]) -> frozenset[str]:
    """Without what belongs to others' links, and the route that they share with ours."""
    kept = {line for line in lines if not others.links.intersection(re.split(r"[\s:@]+", line))}
    # The ends that are on their way into a namespace have no more than a name.
    kept = {line for line in kept if not re.search(r"\bitbc\d+n\b", line)}
    return frozenset(line for line in kept if not others.identities or not _UNREACHABLE.search(line))


def _processes(mine: str, others: _Others) -> frozenset[str]:
    here = _link("/proc/self/ns/net")
    found: set[str] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        stat = _read(str(folder / "stat"))
        name, _, rest = stat.partition("(")[2].rpartition(")")
        fields = rest.split()
        if not fields or fields[1] == "2" or folder.name == "2":
            continue
        identity = _identity(_read(str(folder / "cgroup")))
        if identity and not identity.startswith(mine):
            continue
        undead = fields[0] == "Z" and fields[1] in {"1", str(os.getpid())} and _UNDEAD.fullmatch(name) is not None
        namespace = _link(str(folder / "ns/net"))
        away = namespace not in {here, ""} | others.namespaces
        if undead or away or identity:
            command = _read(str(folder / "cmdline")).replace("\0", " ").strip() or f"[{name}]"
            found.add(f"{folder.name} started {fields[19]}: {command}")
    return frozenset(found)


def _mounts(mine: str) -> frozenset[str]:
    # Without the numbers of mounts and devices, which mean nothing from one boot of a thing to the next.
    lines = (" ".join(line.split()[3:]) for line in _read("/proc/self/mountinfo").splitlines())
    # Other runs' agents have a workspace mounted as long as they stand.
    return frozenset(line for line in lines if " itbc-agent " not in line or f"/agents/{mine}" in line)


def _network_namespaces() -> frozenset[str]:
    return frozenset(_link(str(link)) for link in Path("/proc").glob("[0-9]*/ns/net")) - {""}


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""


def _cgroups() -> frozenset[str]:
    roots = [
        line.split()[1] for line in _read("/proc/self/mounts").splitlines() if line.split()[2].startswith("cgroup")
    ]
    return frozenset(folder for root in roots for folder, _, _ in os.walk(root) if "/itbc-" in folder)


def _lines(*command: str) -> frozenset[str]:
    text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    kept = (line.strip() for line in text.splitlines() if not line.startswith("#"))
    return frozenset(re.sub(r" expires \d+sec|\[\d+:\d+\]|valid_lft \w+|preferred_lft \w+", "", line) for line in kept)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


def _listed(folder: str) -> list[str]:
    try:
        return [path.name for path in Path(folder).iterdir()]
    except OSError:
        return []
