"""What a snapshot keeps of an object and what it leaves out."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from itbc.evaluators.probes.objects import snapshot, state_of

LIVE: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "settings",
        "namespace": "shop",
        "uid": "u1",
        "resourceVersion": "42",
        "generation": 2,
        "creationTimestamp": "2030-01-01T00:00:00Z",
        "managedFields": [{"manager": "someone"}],
        "labels": {"app": "shop"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    },
    "data": {"a": "1"},
    "status": {"phase": "x"},
}


class Fixed:
    """A cluster with fixed objects; the API server's answers are tested on a real one."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def objects(self, kind: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        self.asked.append((kind, namespace))
        return [{"metadata": {"name": name, "namespace": namespace, "uid": name}} for name in ("b", "a")]


def test_keeps_what_was_asked_for_and_drops_what_changes_by_itself() -> None:
    state = state_of(LIVE, "shop", "ConfigMap")
    assert state.uid == "u1"
    assert state.object == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop", "uid": "u1", "labels": {"app": "shop"}},
        "data": {"a": "1"},
    }


def test_secret_values_become_digests_that_tell_them_apart() -> None:
    def secret(value: str) -> Mapping[str, Any]:
        data = {"password": base64.b64encode(value.encode()).decode()}
        return {"kind": "Secret", "metadata": {"name": "key", "uid": "u"}, "data": data}

    first, second = (state_of(secret(value), "shop", "Secret").object["data"] for value in ("hunter2", "hunter3"))
    assert first == {"password": "sha256:f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7"}
    assert first != second


def test_is_in_a_fixed_order_and_asks_for_each_kind_once() -> None:
    source = Fixed()
    states = snapshot(source, "shop", ["b", "a", "b"], ["Service", "Deployment", "Service"])
    assert source.asked == [("Deployment", "a"), ("Service", "a"), ("Deployment", "b"), ("Service", "b")]
    assert [(s.entity.namespace, s.entity.kind, s.entity.name) for s in states] == [
        (namespace, kind, name) for namespace in "ab" for kind in ("Deployment", "Service") for name in "ab"
    ]
