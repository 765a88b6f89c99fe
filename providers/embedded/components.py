"""The command lines of a node's own programs, in the upstream documentation's flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from itbc.providers.embedded.layout import (
    CONTAINERD_CONFIG,
    KUBELET_ROOT,
    KUBERNETES,
    PKI,
    PROGRAMS,
    VOLUME_PLUGINS,
)
from itbc.providers.embedded.rights import NETWORK_POLICY_USER, NODE_NETWORK_USER
from itbc.providers.embedded.spec import DNS_DOMAIN, SERVICE_RANGE

NODE_PROGRAMS = (
    "coredns",
    "edge-delay",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubelet",
    "network-policy",
    "object-metrics",
    "pod-targets",
)
"""The names the one node program is called by inside the node."""


@dataclass(frozen=True, slots=True)
class Component:
    """A program that the supervisor keeps running."""

    name: str
    command: Sequence[str]


def first(address: IPv4Address) -> list[Component]:
    """What starts at once. The API server retries until the store answers."""
    return [
        Component("etcd", _etcd()),
        Component("containerd", ("containerd", "--config", CONTAINERD_CONFIG)),
        Component("kube-apiserver", _api_server(address)),
    ]


def with_runtime(address: IPv4Address, node_name: str) -> list[Component]:
    """What starts when the container runtime listens: without it the kubelet ends. It retries until the API answers."""
    return [Component("kubelet", _kubelet(address, node_name))]


def with_api() -> list[Component]:
    """What starts when the API server is ready: before that these programs end or wait long over missing rights."""
    return [
        Component("kube-controller-manager", _controllers()),
        Component("kube-scheduler", _scheduler()),
        Component("kube-proxy", (f"{PROGRAMS}/kube-proxy", f"--config={KUBERNETES}/proxy.yaml")),
    ]


def with_rights() -> list[Component]:
    """What starts when `rights.node()` are given: before that these programs are refused what they need."""
    users = {"edge-delay": NODE_NETWORK_USER, "network-policy": NETWORK_POLICY_USER}
    return [
        Component(name, [f"{PROGRAMS}/{name}", *_flags({"kubeconfig": f"{KUBERNETES}/{user}.conf"})])
        for name, user in users.items()
    ]


def _etcd() -> list[str]:
    client, peer = "https://127.0.0.1:2379", "https://127.0.0.1:2380"
    flags = {
        "name": "node",
        "data-dir": "/var/lib/etcd",
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"node={peer}",
        "snapshot-count": "10000",
    }
    # Pods on the host's network reach the loopback address too: nobody without a certificate gets at the store.
    for prefix in ("", "peer-"):
        flags |= {
            f"{prefix}cert-file": f"{PKI}/etcd.crt",
            f"{prefix}key-file": f"{PKI}/etcd.key",
            f"{prefix}trusted-ca-file": f"{PKI}/etcd-ca.crt",
            f"{prefix}client-cert-auth": "true",
        }
    # The cluster doesn't outlive a power cut anyhow, so the store needn't wait for the disk.
    return [f"{PROGRAMS}/etcd", *_flags(flags), "--unsafe-no-fsync"]


def _api_server(address: IPv4Address) -> list[str]:
    flags = {
        "advertise-address": str(address),
        "allow-privileged": "true",
        "authorization-mode": "Node,RBAC",
        "bind-address": "0.0.0.0",  # noqa: S104 - inside the cluster's own network namespace
        "client-ca-file": f"{PKI}/ca.crt",
        "enable-admission-plugins": "NodeRestriction",
        "etcd-cafile": f"{PKI}/etcd-ca.crt",
        "etcd-certfile": f"{PKI}/apiserver-etcd-client.crt",
        "etcd-keyfile": f"{PKI}/apiserver-etcd-client.key",
        "etcd-servers": "https://127.0.0.1:2379",
        "kubelet-certificate-authority": f"{PKI}/ca.crt",
        "kubelet-client-certificate": f"{PKI}/apiserver-kubelet-client.crt",
        "kubelet-client-key": f"{PKI}/apiserver-kubelet-client.key",
        # By name would mean a lookup that nobody answers.
        "kubelet-preferred-address-types": "InternalIP",
        "profiling": "false",
        "proxy-client-cert-file": f"{PKI}/front-proxy-client.crt",
        "proxy-client-key-file": f"{PKI}/front-proxy-client.key",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-client-ca-file": f"{PKI}/front-proxy-ca.crt",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-username-headers": "X-Remote-User",
        "secure-port": "6443",
        "service-account-issuer": f"https://kubernetes.default.svc.{DNS_DOMAIN}",
        "service-account-key-file": f"{PKI}/sa.pub",
        "service-account-signing-key-file": f"{PKI}/sa.key",
        "service-cluster-ip-range": str(SERVICE_RANGE),
        "tls-cert-file": f"{PKI}/apiserver.crt",
        "tls-private-key-file": f"{PKI}/apiserver.key",
    }
    return [f"{PROGRAMS}/kube-apiserver", *_flags(flags)]


def _kubelet(address: IPv4Address, node_name: str) -> list[str]:
    flags = {
        "config": f"{KUBERNETES}/kubelet.yaml",
        "hostname-override": node_name,
        "kubeconfig": f"{KUBERNETES}/kubelet.conf",
        "node-ip": str(address),
        "root-dir": KUBELET_ROOT,
    }
    return [f"{PROGRAMS}/kubelet", *_flags(flags)]


def _controllers() -> list[str]:
    flags = {
        **_own_access("controller-manager"),
        "cluster-signing-cert-file": f"{PKI}/ca.crt",
        "cluster-signing-key-file": f"{PKI}/ca.key",
        "flex-volume-plugin-dir": VOLUME_PLUGINS,
        # With the default rate, the first service account is five seconds away.
        "kube-api-burst": "500",
        "kube-api-qps": "300",
        "root-ca-file": f"{PKI}/ca.crt",
        "service-account-private-key-file": f"{PKI}/sa.key",
        "use-service-account-credentials": "true",
    }
    return [f"{PROGRAMS}/kube-controller-manager", *_flags(flags)]


def _scheduler() -> list[str]:
    return [f"{PROGRAMS}/kube-scheduler", *_flags(_own_access("scheduler"))]


def _own_access(name: str) -> dict[str, str]:
    file = f"{KUBERNETES}/{name}.conf"
    return {
        "authentication-kubeconfig": file,
        "authorization-kubeconfig": file,
        "bind-address": "127.0.0.1",
        "kubeconfig": file,
        "leader-elect": "false",
    }


def _flags(flags: dict[str, str]) -> list[str]:
    return [f"--{name}={flags[name]}" for name in sorted(flags)]
