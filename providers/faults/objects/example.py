"""A small application for the families' examples: a workload, its settings and its Service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from itbc.dsl.catalogue import FaultRequest

SETTINGS: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "shop"},
    "data": {"LOG_LEVEL": "info", "REQUEST_TIMEOUT": "2s"},
}

WORKLOAD: Mapping[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "checkout", "namespace": "shop"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "checkout"}},
        "template": {
            "metadata": {"labels": {"app": "checkout"}},
            "spec": {
                "containers": [
                    {
                        "name": "checkout",
                        "image": "registry.example/checkout:1.4.2",
                        "args": ["serve"],
                        "ports": [{"name": "http", "containerPort": 8080}],
                        "envFrom": [{"configMapRef": {"name": "settings"}}],
                        "env": [{"name": "PAYMENT_ADDR", "value": "payment:8080"}],
                        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}},
                        "resources": {
                            "requests": {"cpu": "10m", "memory": "32Mi"},
                            "limits": {"memory": "64Mi"},
                        },
                    }
                ]
            },
        },
    },
}

LOAD: Mapping[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "load", "namespace": "shop"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "load"}},
        "template": {
            "metadata": {"labels": {"app": "load"}},
            "spec": {
                "containers": [
                    {
                        "name": "load",
                        "image": "registry.example/load:1.4.2",
                        "env": [{"name": "USERS", "value": "20"}],
                    }
                ]
            },
        },
    },
}

SERVICE: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "checkout", "namespace": "shop"},
    "spec": {
        "selector": {"app": "checkout"},
        "ports": [{"name": "http", "port": 8080, "targetPort": "http"}],
    },
}


STORE: Mapping[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "store", "namespace": "shop"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "store"}},
        "template": {
            "metadata": {"labels": {"app": "store"}},
            "spec": {"containers": [{"name": "store", "image": "registry.example/store:1.4.2"}]},
        },
    },
}

EVERYTHING: Sequence[Mapping[str, Any]] = (SETTINGS, WORKLOAD, STORE, LOAD, SERVICE)


def example(manifest: Mapping[str, Any], **parameters: Any) -> FaultRequest:
    """A request that aims at an object of the example application."""
    name = str(manifest["metadata"]["name"])
    return FaultRequest("shop", "shop", str(manifest["kind"]), name, manifest, parameters, EVERYTHING)
