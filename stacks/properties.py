"""What each stack is made from, as plain data.

This is apart from the constructs, so that saying what stands needs no cdktn;
only making the JSON does. Everything here goes into the digest under which a
synthesised stack is cached, so it holds what varies with the scenario and
nothing that varies with the run (that comes in as Terraform variables).
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Properties(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all stacks have: their id, which is also their folder's name."""

    id: str


class EmbeddedCluster(Properties, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Kubernetes cluster on this machine."""

    name: str
    nodes: int


class EmbeddedTelemetry(Properties, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prometheus and Alertmanager for an embedded cluster, and the stores of traces and logs, where they are wanted.

    `rules` is the rules file's path below the artefact folder's `files/`, and
    `rules_digest` its SHA-256, by which a changed file is noticed.
    """

    cluster: str
    rules: str
    rules_digest: str
    namespaces: list[str]
    stores: list[Literal["logs", "traces"]]


class Image(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image built from source: `source` is a folder below `files/`, `source_digest` stands for its whole content.

    `type` is the Terraform type of the target's own resource that builds it and brings it into the cluster.
    """

    name: str
    type: str
    reference: str
    source: str
    source_digest: str


class Object(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Kubernetes object: its resource name in the stack, its manifest as JSON text, and whether to wait for it."""

    name: str
    manifest: str
    wait: Literal["ready", "none"]
    timeout_seconds: int


class Application(Properties, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is deployed into a cluster.

    The objects come in phases: every object of a phase is there before the
    first of the next one is created. `images` are loaded before the last phase;
    a target that has a registry leaves them empty.
    """

    images: list[Image]
    phases: list[list[Object]]
