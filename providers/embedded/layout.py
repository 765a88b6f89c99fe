"""Where everything of a cluster lies: on this machine (`Layout`) and as the node sees it (the constants)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# As the node sees it: the places kubeadm uses, so that what was written for such nodes finds its way about.
PKI = "/etc/kubernetes/pki"
KUBERNETES = "/etc/kubernetes"
PROGRAMS = "/opt/kubernetes"
CNI_PROGRAMS = "/opt/cni/bin"
CNI_CONFIG = "/etc/cni/net.d"
CONTAINERD_CONFIG = "/etc/containerd/config.toml"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
KUBELET_ROOT = "/var/lib/kubelet"
RESOLV_CONF = "/etc/resolv.conf"
VOLUME_PLUGINS = f"{KUBELET_ROOT}/volume-plugins"


@dataclass(frozen=True, slots=True)
class Layout:
    """A cluster's state folder (mode 0700). `node/etc` and `node/var` are the node's own /etc and /var."""

    folder: Path

    @property
    def record(self) -> Path:
        """What the cluster is, once that is known (`record.ClusterRecord`)."""
        return self.folder / "cluster.json"

    @property
    def host(self) -> Path:
        """Which process is the node host's outer end (`process.ProcessId`)."""
        return self.folder / "host.json"

    @property
    def plan(self) -> Path:
        """What the supervisor is to set up and start."""
        return self.folder / "plan.json"

    @property
    def control(self) -> Path:
        """The supervisor's socket. Its path may be too long for an address: see `control.py`."""
        return self.folder / "control.sock"

    @property
    def supervisor_log(self) -> Path:
        """What the supervisor says."""
        return self.folder / "supervisor.log"

    @property
    def kubeconfig(self) -> Path:
        """Admin rights, for the host."""
        return self.folder / "admin.kubeconfig"

    @property
    def root(self) -> Path:
        """An empty folder, over which the node's root is mounted in its own namespace."""
        return self.folder / "root"

    @property
    def etc(self) -> Path:
        """The node's /etc."""
        return self.folder / "node" / "etc"

    @property
    def var(self) -> Path:
        """The node's /var."""
        return self.folder / "node" / "var"

    @property
    def tmp(self) -> Path:
        """The node's /tmp."""
        return self.folder / "node" / "tmp"

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.etc / "kubernetes" / "pki"

    @property
    def logs(self) -> Path:
        """The components' logs."""
        return self.var / "log"

    def inside(self, path: str) -> Path:
        """Where a path below the node's /etc or /var lies on this machine."""
        return self.folder / "node" / path.lstrip("/")
