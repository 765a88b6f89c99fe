"""What a cluster is asked to be, and the names and numbers that follow from it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from itbc.providers.embedded.errors import EmbeddedError

LEDGER_KIND = "embedded-cluster"
"""What the ledger calls these clusters."""

RANGE_SETTING = "ITBC_EMBEDDED_RANGE"

DEFAULT_RANGE = IPv4Network("10.200.0.0/16")
LINK_PREFIX = 30
"""The prefix of one cluster's link: two addresses, the host's and the node's."""

"""Where the clusters' node addresses come from: a /30 for each cluster."""

POD_RANGE = IPv4Network("10.244.0.0/16")
NODE_POD_RANGE = IPv4Network("10.244.0.0/24")
SERVICE_RANGE = IPv4Network("10.96.0.0/16")
API_SERVICE_ADDRESS = IPv4Address("10.96.0.1")
DNS_ADDRESS = IPv4Address("10.96.0.10")
DNS_DOMAIN = "cluster.local"

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """A cluster to boot.

    `state_dir` is the folder that gets one sub-folder for each cluster of the
    run, called like the cluster. `expires` (RFC 3339) is only remembered, so
    that whoever cleans up can read it.
    """

    name: str
    run_id: str
    state_dir: Path
    expires: str
    nodes: int = 1
    range: IPv4Network = DEFAULT_RANGE

    @property
    def identity(self) -> str:
        """The cluster's id, fixed before anything of it exists."""
        return f"{self.run_id}.{self.name}"

    @property
    def folder(self) -> Path:
        """The cluster's own state folder."""
        return self.state_dir / self.name

    @property
    def node_name(self) -> str:
        """The name of its (only) node."""
        return f"{self.name}-1"


def problems(spec: ClusterSpec) -> list[tuple[str, str]]:
    """Why a cluster can't be made as asked: (argument, message) pairs, empty where it can."""
    found: list[tuple[str, str]] = []
    if not _LABEL.fullmatch(spec.name):
        found.append(("name", f"{spec.name!r} is no DNS label of at most 40 characters (a-z, 0-9, inner hyphens)"))
    if not _RUN.fullmatch(spec.run_id):
        found.append(("run_id", f"{spec.run_id!r} must be 1 to 80 letters, digits, dots, hyphens or underscores"))
    if spec.nodes != 1:
        found.append(("nodes", f"an embedded cluster has exactly 1 node for now, not {spec.nodes}; set nodes = 1"))
    if not spec.state_dir.is_absolute():
        found.append(("state_dir", f"{spec.state_dir} must be an absolute path"))
    if spec.range.prefixlen > 30:
        found.append(("range", f"{spec.range} is too small: a cluster takes a /30 of it"))
    found += [
        ("range", f"{spec.range} overlaps {other}, which is used inside every cluster")
        for other in (POD_RANGE, SERVICE_RANGE)
        if spec.range.overlaps(other)
    ]
    return found


def address_range(environ: Mapping[str, str] = os.environ) -> IPv4Network:
    """The range of this machine's clusters, as set by ITBC_EMBEDDED_RANGE. Raises EmbeddedError for what is none."""
    text = environ.get(RANGE_SETTING)
    if not text:
        return DEFAULT_RANGE
    remedy = f"Set it to a private range, for instance {DEFAULT_RANGE}."
    try:
        pool = IPv4Network(text)
    except ValueError as wrong:
        raise EmbeddedError(f"{RANGE_SETTING} is no IPv4 network: {wrong}", remedy) from wrong
    if pool.prefixlen > LINK_PREFIX:
        raise EmbeddedError(f"{RANGE_SETTING} is too small: a cluster takes a /{LINK_PREFIX}", remedy)
    return pool


def cluster_name(identity: str) -> str:
    """The cluster's name, read back from its id. Raises EmbeddedError for what is no id."""
    run, dot, name = identity.rpartition(".")
    if not dot or not _RUN.fullmatch(run) or not _LABEL.fullmatch(name):
        raise EmbeddedError(f"{identity!r} is not the id of an embedded cluster (RUN.NAME)")
    return name


def cgroup_name(identity: str) -> str:
    """The name of the cluster's group in every cgroup hierarchy."""
    return f"itbc-{identity}"


def link_address(identity: str) -> str:
    """The hardware address of this machine's end of the link, by which it is recognised whatever it is called."""
    digest = hashlib.sha256(identity.encode()).digest()
    return ":".join(f"{octet:02x}" for octet in (0x02, *digest[:5]))
