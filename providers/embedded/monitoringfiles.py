"""What Prometheus and Alertmanager are told, and what they may see of the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from itbc.providers.embedded.layout import PKI
from itbc.providers.embedded.rights import grant

PROMETHEUS_PORT = 9090
ALERTMANAGER_PORT = 9093
OBJECT_METRICS_PORT = 8081

CONFIG = "/etc/prometheus/prometheus.yml"
RULES = "/etc/prometheus/rules.yml"
ALERTMANAGER_CONFIG = "/etc/prometheus/alertmanager.yml"
TARGETS = "/etc/prometheus/targets/pods.json"

PROMETHEUS_USER = "prometheus"
OBJECT_METRICS_USER = "kube-state-metrics"

_BALLAST = (
    "apiserver_admission_.+_bucket",
    "apiserver_flowcontrol_.+_bucket",
    "apiserver_request_body_size_bytes_bucket",
    "apiserver_response_sizes_bucket",
    "apiserver_watch_.+_bucket",
    "etcd_request_duration_seconds_bucket",
    "kubernetes_feature_enabled",
)
"""Two thirds of the API server's series, which no rule asks for."""

_POD = "__meta_kubernetes_pod"
_ANNOTATION = f"{_POD}_annotation_prometheus_io"


def prometheus(address: str, node_name: str) -> dict[str, Any]:
    """Prometheus' configuration."""
    return {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [RULES],
        "alerting": {
            "alertmanagers": [{"static_configs": [{"targets": [f"{address}:{ALERTMANAGER_PORT}"]}]}],
        },
        "scrape_configs": [
            _pods(),
            {
                "job_name": "kube-state-metrics",
                "honor_labels": True,
                "static_configs": [{"targets": [f"{address}:{OBJECT_METRICS_PORT}"]}],
            },
            {
                "job_name": "kubelet",
                **_as_client("5s"),
                "static_configs": [
                    {
                        "targets": [f"{address}:10250"],
                        "labels": {"__metrics_path__": path, "metrics_path": path, "node": node_name},
                    }
                    for path in ("/metrics", "/metrics/cadvisor", "/metrics/probes")
                ],
            },
            {
                "job_name": "apiserver",
                **_as_client("5s"),
                "static_configs": [{"targets": [f"{address}:6443"]}],
                "metric_relabel_configs": [
                    {"source_labels": ["__name__"], "action": "drop", "regex": "|".join(_BALLAST)}
                ],
            },
        ],
    }


def _as_client(interval: str) -> dict[str, Any]:
    return {
        "scheme": "https",
        "scrape_interval": interval,
        "scrape_timeout": interval,
        "tls_config": {
            "ca_file": f"{PKI}/ca.crt",
            "cert_file": f"{PKI}/{PROMETHEUS_USER}.crt",
            "key_file": f"{PKI}/{PROMETHEUS_USER}.key",
        },
    }


def _pods() -> dict[str, Any]:
    return {
        "job_name": "pods",
        # Debian's Prometheus can't ask Kubernetes. The component pod-targets asks, and keeps this file, which
        # Prometheus reads whenever it changes.
        "file_sd_configs": [{"files": [TARGETS]}],
        "relabel_configs": [
            {"source_labels": [f"{_ANNOTATION}_scrape"], "action": "keep", "regex": "true"},
            {"source_labels": [f"{_ANNOTATION}_path"], "regex": "(.+)", "target_label": "__metrics_path__"},
            {
                "source_labels": [f"{_POD}_ip", f"{_ANNOTATION}_port"],
                "regex": r"(.+);(\d+)",
                "replacement": "$1:$2",
                "target_label": "__address__",
            },
            {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"},
            {"source_labels": [f"{_POD}_name"], "target_label": "pod"},
            {"source_labels": [f"{_POD}_label_app_kubernetes_io_name"], "target_label": "service"},
        ],
    }


def alertmanager() -> dict[str, Any]:
    """Alertmanager's configuration: every alert at once, to nobody; who wants to know asks its API."""
    return {
        "route": {
            "receiver": "none",
            "group_by": ["..."],
            "group_wait": "0s",
            "group_interval": "1s",
            "repeat_interval": "1h",
        },
        "receivers": [{"name": "none"}],
    }


def rights() -> list[tuple[str, dict[str, Any]]]:
    """The objects that give the two identities their rights, each with its API path: to read what they need."""
    read = ["list", "watch"]
    scraping = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", *read]},
        {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    ]
    core = (
        *("configmaps", "endpoints", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes"),
        *("pods", "resourcequotas", "services"),
    )
    groups: dict[str, Sequence[str]] = {
        "": core,
        "apps": ("daemonsets", "deployments", "replicasets", "statefulsets"),
        "autoscaling": ("horizontalpodautoscalers",),
        "batch": ("cronjobs", "jobs"),
        "discovery.k8s.io": ("endpointslices",),
        "policy": ("poddisruptionbudgets",),
    }
    state = [{"apiGroups": [group], "resources": list(kinds), "verbs": read} for group, kinds in groups.items()]
    return [*grant(PROMETHEUS_USER, scraping), *grant(OBJECT_METRICS_USER, state)]
