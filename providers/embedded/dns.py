"""Cluster DNS as on any cluster: CoreDNS in kube-system with ConfigMap, Service and rights, so that it can break."""

from __future__ import annotations

from typing import Any

from itbc.providers.embedded.layout import PROGRAMS
from itbc.providers.embedded.nodefiles import PAUSE_IMAGE
from itbc.providers.embedded.spec import DNS_ADDRESS, DNS_DOMAIN

NAMESPACE = "kube-system"
NAME = "coredns"

_LABELS = {"k8s-app": "kube-dns"}

COREFILE = f"""{DNS_DOMAIN}:53 in-addr.arpa:53 ip6.arpa:53 {{
    errors
    health {{
        lameduck 5s
    }}
    ready
    kubernetes {DNS_DOMAIN} in-addr.arpa ip6.arpa {{
        pods insecure
        ttl 5
    }}
    prometheus :9153
    cache 5
    reload
}}
.:53 {{
    errors
    template ANY ANY {{
        rcode NXDOMAIN
    }}
    cache 30
}}
"""
"""There is no world outside: any other name doesn't exist, and that is said at once."""


def objects() -> list[tuple[str, dict[str, Any]]]:
    """The objects in the order to apply them, each with its API path."""
    core = f"/api/v1/namespaces/{NAMESPACE}"
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    return [
        (f"{core}/serviceaccounts/{NAME}", _object("v1", "ServiceAccount", NAME)),
        (f"{rbac}/clusterroles/system:coredns", _role()),
        (f"{rbac}/clusterrolebindings/system:coredns", _binding()),
        (f"{core}/configmaps/{NAME}", {**_object("v1", "ConfigMap", NAME), "data": {"Corefile": COREFILE}}),
        (f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{NAME}", _deployment()),
        (f"{core}/services/kube-dns", _service()),
    ]


def available(deployment: dict[str, Any] | None) -> bool:
    """Whether the Deployment is there and answers."""
    return deployment is not None and int(deployment.get("status", {}).get("availableReplicas", 0)) > 0


def _object(version: str, kind: str, name: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": NAMESPACE, "labels": dict(_LABELS)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _role() -> dict[str, Any]:
    role = _object("rbac.authorization.k8s.io/v1", "ClusterRole", "system:coredns")
    del role["metadata"]["namespace"]
    read = ["list", "watch"]
    role["rules"] = [
        {"apiGroups": [""], "resources": ["endpoints", "services", "pods", "namespaces"], "verbs": read},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": read},
    ]
    return role


def _binding() -> dict[str, Any]:
    binding = _object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "system:coredns")
    del binding["metadata"]["namespace"]
    binding["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:coredns"}
    binding["subjects"] = [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}]
    return binding


def _service() -> dict[str, Any]:
    service = _object("v1", "Service", "kube-dns")
    service["metadata"]["labels"] |= {"kubernetes.io/name": "CoreDNS"}
    service["spec"] = {
        "clusterIP": str(DNS_ADDRESS),
        "selector": dict(_LABELS),
        "ports": [
            {"name": "dns", "port": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
            {"name": "metrics", "port": 9153, "protocol": "TCP"},
        ],
    }
    return service


def _deployment() -> dict[str, Any]:
    deployment = _object("apps/v1", "Deployment", NAME)
    deployment["spec"] = {
        "replicas": 1,
        "selector": {"matchLabels": dict(_LABELS)},
        "template": {"metadata": {"labels": dict(_LABELS)}, "spec": _pod()},
    }
    return deployment


def _pod() -> dict[str, Any]:
    return {
        "serviceAccountName": NAME,
        "priorityClassName": "system-cluster-critical",
        "dnsPolicy": "Default",
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
        "containers": [
            {
                "name": NAME,
                # The program is the node's own, so that no image of its size has to be made.
                "image": PAUSE_IMAGE,
                "imagePullPolicy": "IfNotPresent",
                "command": ["/coredns"],
                "args": ["-conf", "/etc/coredns/Corefile"],
                "ports": [
                    {"containerPort": 53, "name": "dns", "protocol": "UDP"},
                    {"containerPort": 53, "name": "dns-tcp", "protocol": "TCP"},
                    {"containerPort": 9153, "name": "metrics", "protocol": "TCP"},
                ],
                "resources": {"limits": {"memory": "300Mi"}, "requests": {"cpu": "50m", "memory": "70Mi"}},
                "livenessProbe": {
                    "httpGet": {"path": "/health", "port": 8080},
                    "periodSeconds": 10,
                    "timeoutSeconds": 5,
                    "failureThreshold": 5,
                },
                "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                },
                "volumeMounts": [
                    {"name": "config", "mountPath": "/etc/coredns", "readOnly": True},
                    {"name": "program", "mountPath": "/coredns", "readOnly": True},
                ],
            }
        ],
        "volumes": [
            {"name": "config", "configMap": {"name": NAME, "items": [{"key": "Corefile", "path": "Corefile"}]}},
            {"name": "program", "hostPath": {"path": f"{PROGRAMS}/node", "type": "File"}},
        ],
    }
