"""The one link between this machine and a cluster, its addresses, and the route that keeps stray packets at home.

A link is called `itbcN`; N picks the /30 of the range, and the kernel refuses
a second link of a name, so N can't be given out twice, whoever asks. A link is
recognised by its hardware address, which follows from the cluster's id. When a
cluster's network namespace dies its link dies with it, so no N is ever lost.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, ip_network
from pathlib import Path
from typing import Any

from itbc.providers.embedded import tools
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.spec import LINK_PREFIX, link_address
from itbc.providers.embedded.waiting import wait_for

ROUTE_PROTOCOL = "213"
_PATIENCE = 15.0
"""Marks the route as ours (the numbers from 192 on are free for the administrator's use)."""

CNI_FOLDERS = ("/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin")
"""Where distributions put the pod network's plug-ins."""

_LINKS = Path("/sys/class/net")
_NAME = re.compile(r"itbc(\d+)")


@dataclass(frozen=True, slots=True)
class Link:
    """A cluster's link: its name and address on this machine, and the node's address at the other end."""

    name: str
    host: IPv4Address
    node: IPv4Address


def addresses(pool: IPv4Network, index: int) -> tuple[IPv4Address, IPv4Address]:
    """The host's and the node's address of the link of a number."""
    base = pool.network_address + index * 4
    return base + 1, base + 2


def capacity(pool: IPv4Network) -> int:
    """How many clusters the range has addresses for."""
    return 1 << (LINK_PREFIX - pool.prefixlen)


def candidates(identity: str, pool: IPv4Network) -> Iterator[int]:
    """All numbers, each once, from one that follows from the cluster's id.

    So the address of a cluster that is gone isn't soon somebody else's, whom
    those who haven't noticed yet would take for it.
    """
    count = capacity(pool)
    start = int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8]) % count
    return ((start + step) % count for step in range(count))


def reserve(identity: str, pool: IPv4Network) -> Link:
    """Make the cluster's link, both ends still here, after the route that catches packets to links that are gone."""
    _refuse_foreign_routes(pool)
    with _lock():
        _ip("route", "replace", "unreachable", str(pool), "proto", ROUTE_PROTOCOL)
        try:
            name, host, node = _add_link(identity, pool)
        except EmbeddedError:
            _release_route(pool)
            raise
        # No IPv6 on this end: the node must find no way to the machine but the one address.
        _ip("link", "set", name, "addrgenmode", "none")
        _ip("address", "add", f"{host}/{LINK_PREFIX}", "dev", name)
        _ip("link", "set", name, "up")
    return Link(name, host, node)


def _add_link(identity: str, pool: IPv4Network) -> tuple[str, IPv4Address, IPv4Address]:
    taken = set(_names())
    for index in candidates(identity, pool):
        name = f"itbc{index}"
        if name in taken:
            continue
        made = _run(
            *("link", "add", "name", name, "address", link_address(identity)),
            *("type", "veth", "peer", "name", f"{name}n"),
        )
        if made.returncode == 0:
            return (name, *addresses(pool, index))
        if "File exists" not in made.stderr:
            raise EmbeddedError(f"no network link can be made: {made.stderr.strip()}")
    raise EmbeddedError(
        f"all {capacity(pool)} networks of {pool} are in use by clusters",
        "Remove clusters that aren't needed (`itbc gc`), or set a larger ITBC_EMBEDDED_RANGE.",
    )


def hand_over(link: Link, pid: int) -> None:
    """Give the other end, as eth0, to the network namespace of a process, once it has one of its own."""
    here = Path("/proc/self/ns/net").readlink()

    def elsewhere() -> bool:
        try:
            return Path(f"/proc/{pid}/ns/net").readlink() != here
        except OSError as wrong:
            raise EmbeddedError(f"the node host ended before it had a network namespace ({wrong.strerror})") from wrong

    wait_for("the node host's network namespace", elsewhere, 30)
    _ip("link", "set", f"{link.name}n", "name", "eth0", "netns", str(pid))


def release(identity: str, pool: IPv4Network) -> list[str]:
    """Remove the cluster's link, and the route when no link is left. What was removed comes back, in words.

    Raises EmbeddedError where the link doesn't go.
    """
    removed: list[str] = []

    def ours() -> list[str]:
        return [
            each for each in _names() if _NAME.fullmatch(each) and _hardware_address(each) == link_address(identity)
        ]

    with _lock():
        # The namespace may be taking it away at this very moment, which is as good.
        removed += [f"link {name}" for name in ours() if _run("link", "delete", name).returncode == 0]
        # It is listed until that is over, and as long as it is, it would keep the route.
        wait_for("the end of the cluster's link", lambda: not ours(), _PATIENCE)
        if _release_route(pool):
            removed.append(f"route {pool}")
    return removed


def _release_route(pool: IPv4Network) -> bool:
    if any(_NAME.fullmatch(name) for name in _names()):
        return False
    return _run("route", "delete", "unreachable", str(pool), "proto", ROUTE_PROTOCOL).returncode == 0


def conflicts(pool: IPv4Network, routes: list[dict[str, Any]]) -> list[str]:
    """Routes of this machine (as `ip -json route` lists them) that aren't ours and lie in the range."""
    found: list[str] = []
    for route in routes:
        destination = route["dst"]
        if destination == "default" or _NAME.fullmatch(str(route.get("dev", ""))):
            continue
        if str(route.get("protocol")) == ROUTE_PROTOCOL:
            continue
        if ip_network(destination, strict=False).overlaps(pool):
            found.append(f"{destination} dev {route.get('dev', '-')}")
    return found


def routes() -> list[dict[str, Any]]:
    """This machine's IPv4 routes."""
    listed: list[dict[str, Any]] = json.loads(_ip("-json", "-4", "route", "show", "table", "main") or "[]")
    return listed


def _refuse_foreign_routes(pool: IPv4Network) -> None:
    found = conflicts(pool, routes())
    if found:
        raise EmbeddedError(
            f"the clusters' address range {pool} is in use on this machine: {', '.join(found)}",
            "Set ITBC_EMBEDDED_RANGE to a private range that isn't (for instance 10.201.0.0/16).",
        )


def _names() -> list[str]:
    return sorted(path.name for path in _LINKS.iterdir())


def _hardware_address(name: str) -> str:
    try:
        return (_LINKS / name / "address").read_text().strip()
    except OSError:
        return ""


@contextmanager
def _lock() -> Generator[None]:
    """Let one process at a time change this machine's links and routes of clusters.

    The lock is on the network namespace itself: it needs no file, and ends with its holder.
    """
    with Path("/proc/self/ns/net").open("rb") as namespace:

        def locked() -> bool:
            try:
                fcntl.flock(namespace, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        wait_for("the lock on this machine's links (another itbc holds it)", locked, 60)
        yield


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return tools.run(("ip", *words))


def _ip(*words: str) -> str:
    done = _run(*words)
    if done.returncode:
        raise EmbeddedError(f"`ip {' '.join(words)}` failed: {done.stderr.strip()}")
    return done.stdout
