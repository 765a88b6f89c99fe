"""The identity of a Kubernetes object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ref:
    """Which object: `namespace` is empty for an object of the cluster, and for one in the namespace `default`."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Ref:
        """The identity a manifest gives its object. Raises ValueError where it gives none."""
        metadata = manifest.get("metadata")
        parts = (manifest.get("apiVersion"), manifest.get("kind"), (metadata or {}).get("name"))
        missing = [name for name, part in zip(("apiVersion", "kind", "metadata.name"), parts, strict=True) if not part]
        if missing:
            raise ValueError(f"the manifest has no {' and no '.join(missing)}")
        namespace = (metadata or {}).get("namespace") or ""
        return cls(str(parts[0]), str(parts[1]), str(parts[2]), str(namespace))

    @property
    def id(self) -> str:
        """The identity as one string: `apps/v1/Deployment/shop/checkout`."""
        return f"{self.api_version}/{self.kind}/{self.namespace}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> Ref:
        """The identity that `id` gave. Raises ValueError for another string."""
        parts = text.rsplit("/", 3)
        if len(parts) != 4 or not (parts[0] and parts[1] and parts[3]):
            raise ValueError(f"{text!r} isn't the id of a Kubernetes object")
        return cls(api_version=parts[0], kind=parts[1], namespace=parts[2], name=parts[3])

    def __str__(self) -> str:
        place = f" in {self.namespace}" if self.namespace else ""
        return f"{self.kind} {self.name}{place}"
