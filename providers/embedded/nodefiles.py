"""The configuration files of a node: Kubernetes, containerd, the pod network, and a handful of plain /etc files."""

from __future__ import annotations

import hashlib
import json
import shutil
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from itbc.providers.embedded.files import write
from itbc.providers.embedded.kubeconfig import write_kubeconfig
from itbc.providers.embedded.layout import (
    CNI_CONFIG,
    CNI_PROGRAMS,
    CONTAINERD_CONFIG,
    CONTAINERD_SOCKET,
    KUBERNETES,
    PKI,
    RESOLV_CONF,
    VOLUME_PLUGINS,
    Layout,
)
from itbc.providers.embedded.rights import NETWORK_POLICY_USER, NODE_NETWORK_USER
from itbc.providers.embedded.spec import DNS_ADDRESS, DNS_DOMAIN, NODE_POD_RANGE, POD_RANGE

PAUSE_IMAGE = "itbc.local/pause:1"

MAX_PODS = 110

_COPIED = ("ld.so.cache", "protocols", "services", "ethertypes")
"""Files of this machine's /etc that its programs read and that say nothing about it."""


def write_all(layout: Layout, cgroup: str, node_name: str, address: IPv4Address) -> None:
    """Write everything but keys and certificates, which must be there already."""
    for user in ("controller-manager", "scheduler", "kubelet", "proxy", NETWORK_POLICY_USER, NODE_NETWORK_USER):
        write_kubeconfig(layout.etc / f"kubernetes/{user}.conf", node_name, "127.0.0.1", layout.pki, user)
    _json(layout, f"{KUBERNETES}/kubelet.yaml", kubelet(cgroup))
    _json(layout, f"{KUBERNETES}/proxy.yaml", proxy(node_name))
    _json(layout, f"{CNI_CONFIG}/10-pods.conflist", pod_network())
    write(layout.inside(CONTAINERD_CONFIG), containerd(), 0o644)
    for name, text in plain(node_name, address).items():
        write(layout.etc / name, text, 0o644)
    for name in _COPIED:
        if (here := Path("/etc") / name).is_file():
            shutil.copyfile(here, layout.etc / name)
    for folder in ("lib/kubelet", "lib/containerd", "lib/etcd", "lib/cni", "log/pods", "log/containers", "cache"):
        (layout.var / folder).mkdir(mode=0o755, parents=True, exist_ok=True)
    layout.tmp.mkdir(mode=0o755, parents=True, exist_ok=True)
    layout.tmp.chmod(0o1777)


def kubelet(cgroup: str) -> dict[str, Any]:
    """KubeletConfiguration. JSON is YAML, so one writer does."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "0.0.0.0",  # noqa: S104 - inside the cluster's own network namespace
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{PKI}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "cgroupsPerQOS": True,
        "clusterDNS": [str(DNS_ADDRESS)],
        "clusterDomain": DNS_DOMAIN,
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "enforceNodeAllocatable": ["pods"],
        # The disk is the machine's, shared and perhaps nearly full: that is not the cluster's fault.
        "evictionHard": {"imagefs.available": "1%", "memory.available": "100Mi", "nodefs.available": "1%"},
        "failCgroupV1": False,
        "failSwapOn": False,
        "healthzBindAddress": "127.0.0.1",
        # Nothing can be pulled again, so nothing may be thrown away.
        "imageGCHighThresholdPercent": 100,
        "maxPods": MAX_PODS,
        # Some containers forbid even root to make itself less likely to be killed.
        "oomScoreAdj": 0,
        "podLogsDir": "/var/log/pods",
        "readOnlyPort": 0,
        "resolvConf": RESOLV_CONF,
        "serializeImagePulls": False,
        "tlsCertFile": f"{PKI}/kubelet.crt",
        "tlsPrivateKeyFile": f"{PKI}/kubelet.key",
        "volumePluginDir": VOLUME_PLUGINS,
    }


def proxy(node_name: str) -> dict[str, Any]:
    """KubeProxyConfiguration."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": f"{KUBERNETES}/proxy.conf"},
        "clusterCIDR": str(POD_RANGE),
        # Zero means hands off: these settings are the whole machine's.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpCloseWaitTimeout": "0s", "tcpEstablishedTimeout": "0s"},
        "healthzBindAddress": "127.0.0.1:10256",
        "hostnameOverride": node_name,
        "metricsBindAddress": "127.0.0.1:10249",
        "mode": "nftables",
        # Services follow their pods ten times as fast as by default: one node has little to do for it.
        "nftables": {"minSyncPeriod": "100ms"},
        "oomScoreAdj": 0,
    }


def pod_network() -> dict[str, Any]:
    """The CNI chain: a bridge with addresses from the node's own range, and host ports."""
    return {
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "hairpinMode": True,
                "ipMasq": True,
                "isGateway": True,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": str(NODE_POD_RANGE)}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def containerd() -> str:
    """The configuration of containerd, version 2, which releases 1.6 to 2.x read.

    The socket must be the default one: cadvisor looks for containers there and nowhere else.
    """
    return f"""version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0

[grpc]
  address = "{CONTAINERD_SOCKET}"

[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  disable_apparmor = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  restrict_oom_score_adj = true

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI_PROGRAMS}"
    conf_dir = "{CNI_CONFIG}"
"""


def plain(node_name: str, address: IPv4Address) -> dict[str, str]:
    """Small files of /etc by name. The resolver is one that refuses at once, where a missing one is waited for."""
    return {
        "group": "root:x:0:\nnogroup:x:65534:\n",
        "hostname": f"{node_name}\n",
        "hosts": f"127.0.0.1 localhost\n{address} {node_name}\n",
        "machine-id": hashlib.sha256(node_name.encode()).hexdigest()[:32] + "\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
        "os-release": 'NAME="itbc embedded node"\nID=itbc\nPRETTY_NAME="itbc embedded node"\n',
        "passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
        "resolv.conf": "nameserver 127.0.0.1\n",
    }


def _json(layout: Layout, path: str, content: dict[str, Any]) -> None:
    write(layout.inside(path), json.dumps(content, indent=2, sort_keys=True) + "\n", 0o644)
