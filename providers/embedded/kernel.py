"""What this machine's kernel can do, found out without trying it."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Answer = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature: what it is for, its option in the kernel's configuration, and its module."""

    purpose: str
    option: str
    module: str


FEATURES = (
    Feature("network namespaces", "NET_NS", ""),
    Feature("process namespaces", "PID_NS", ""),
    Feature("IPC namespaces", "IPC_NS", ""),
    Feature("host name namespaces", "UTS_NS", ""),
    Feature("container file systems", "OVERLAY_FS", "overlay"),
    Feature("links between network namespaces", "VETH", "veth"),
    Feature("the pod network", "BRIDGE", "bridge"),
    Feature("Services and network policies between pods", "BRIDGE_NETFILTER", "br_netfilter"),
    Feature("packet filters and Services", "NF_TABLES", "nf_tables"),
    Feature("masquerading", "NFT_MASQ", "nft_masq"),
    Feature("connection tracking", "NF_CONNTRACK", "nf_conntrack"),
)
"""What a cluster needs."""

OPTIONAL = (
    Feature("network delay between pods", "NETFILTER_NETLINK_QUEUE", "nfnetlink_queue"),
    Feature("network delay between pods", "NETFILTER_XT_TARGET_NFQUEUE", "xt_NFQUEUE"),
    Feature("network delay between pods", "NFT_COMPAT", "nft_compat"),
)
"""What only some faults need."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel's configuration and modules, as far as this machine lets them be known."""

    options: frozenset[str] | None
    modules: frozenset[str] | None

    def has(self, feature: Feature) -> Answer:
        """Whether the feature is built in or can be loaded."""
        if self.modules is not None and feature.module in self.modules:
            return "yes"
        if self.options is None:
            return "unknown"
        if f"CONFIG_{feature.option}=y" in self.options:
            return "yes"
        if f"CONFIG_{feature.option}=m" in self.options:
            # Configured as a module that isn't installed: no use. Without a list of modules, nobody knows.
            return "unknown" if self.modules is None else "no"
        return "no"


def inspect(root: Path = Path("/")) -> Kernel:
    """Read what there is to read of the running kernel."""
    release = os.uname().release
    folder = root / "lib/modules" / release
    loaded = root / "sys/module"
    names = {path.name for path in loaded.iterdir()} if loaded.is_dir() else set[str]()
    lists = [file for file in (folder / "modules.builtin", folder / "modules.dep") if file.is_file()]
    for file in lists:
        for line in file.read_text().splitlines():
            name = Path(line.partition(":")[0]).name
            names.add(name.partition(".")[0].replace("-", "_"))
    # A kernel without a folder of modules has none to load: then the configuration decides alone.
    return Kernel(_options(root, release), frozenset(names) if lists or not folder.exists() else None)


def _options(root: Path, release: str) -> frozenset[str] | None:
    packed = root / "proc/config.gz"
    for file in (packed, root / "boot" / f"config-{release}", root / "lib/modules" / release / "config"):
        if file.is_file():
            text = gzip.decompress(file.read_bytes()).decode() if file == packed else file.read_text()
            return frozenset(line for line in text.splitlines() if line.startswith("CONFIG_"))
    return None
