"""Take down the state of Kubernetes objects as evidence.

What changes by itself (status, resource versions, field managers) is left out,
and so is everything secret: the values of a Secret become their SHA-256, which
still shows a change, and the copy of the manifest that `kubectl apply` keeps in
an annotation, which would hold them in clear, is dropped from every object.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from itbc.contracts.evaluation import Entity
from itbc.contracts.evidence import ObjectState

_VOLATILE = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "selfLink")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class ObjectSource(Protocol):
    """What a snapshot is taken from; the Kubernetes client of the providers is one."""

    def objects(self, kind: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        """All objects of a kind in a namespace, as the API server gives them."""
        ...


def snapshot(client: ObjectSource, cluster: str, namespaces: Iterable[str], kinds: Iterable[str]) -> list[ObjectState]:
    """The state of all objects of these kinds in these namespaces, in a fixed order.

    `cluster` is the cluster's name in the scenario. What the client raises comes through.
    """
    wanted = sorted(set(kinds))
    states = [
        state_of(thing, cluster, kind)
        for namespace in sorted(set(namespaces))
        for kind in wanted
        for thing in client.objects(kind, namespace)
    ]
    return sorted(states, key=lambda s: (s.entity.namespace, s.entity.kind, s.entity.name))


def state_of(thing: Mapping[str, Any], cluster: str, kind: str) -> ObjectState:
    """One object as evidence. `kind` is used where the object, being an item of a list, doesn't say its own."""
    metadata = {name: value for name, value in thing["metadata"].items() if name not in _VOLATILE}
    annotations = {k: v for k, v in (metadata.pop("annotations", None) or {}).items() if k != _LAST_APPLIED}
    if annotations:
        metadata["annotations"] = annotations
    kept = {name: value for name, value in thing.items() if name not in {"status", "metadata"}} | {"metadata": metadata}
    if thing.get("kind", kind) == "Secret":
        kept |= {name: _hashed(kept[name]) for name in ("data", "stringData") if kept.get(name)}
    entity = Entity(
        cluster=cluster,
        namespace=metadata.get("namespace", ""),
        kind=thing.get("kind", kind),
        name=metadata["name"],
    )
    return ObjectState(entity=entity, uid=metadata.get("uid", ""), object=kept)


def _hashed(values: Mapping[str, str]) -> dict[str, str]:
    return {name: f"sha256:{hashlib.sha256(_raw(value)).hexdigest()}" for name, value in values.items()}


def _raw(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        return value.encode()
