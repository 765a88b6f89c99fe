"""The Terraform resource `itbc_kubernetes_object`: one Kubernetes object of any kind, on any target.

It is applied server-side, so that what others set on it (autoscalers, agents)
stays theirs, and waited for until it is ready. An object that somebody else
made is not taken over, because destroying would delete it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tf.schema import Attribute, Schema
from tf.types import Number, String, Unknown

from itbc.providers.kubernetes.client import FIELD_MANAGER, Client, ClusterError, NoSuchKindError, UnreachableError
from itbc.providers.kubernetes.kubeconfig import KubeconfigError
from itbc.providers.kubernetes.refs import Ref
from itbc.providers.kubernetes.rollout import remove, wait_gone, wait_ready
from itbc.providers.services import Services

LEDGER_KIND = "kubernetes-object"
"""The kind of this resource's ledger entries; their details are `kubeconfig` and `id`."""

_SERVED_SECONDS = 15.0
"""How long a kind may take to be served after its definition was established."""

State = dict[str, Any]


class _Diagnostics(Protocol):
    def add_error(self, summary: str, detail: str = "", path: list[str] | None = None) -> Any: ...

    def add_warning(self, summary: str, detail: str = "", path: list[str] | None = None) -> Any: ...


class _Context(Protocol):
    @property
    def diagnostics(self) -> _Diagnostics: ...


class KubernetesObject:
    """The resource type; an instance serves one call."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @classmethod
    def get_name(cls) -> str:
        """The type name without the provider's prefix."""
        return "kubernetes_object"

    @classmethod
    def get_schema(cls) -> Schema:
        """Arguments and computed attributes."""
        return Schema(
            version=0,
            attributes=[
                Attribute(
                    "kubeconfig",
                    String(),
                    "Path of the kubeconfig with the rights to make the object.",
                    required=True,
                    requires_replace=True,
                ),
                Attribute("manifest", String(), "The object as JSON text.", required=True),
                Attribute(
                    "wait",
                    String(),
                    "`ready`: until a workload is rolled out, a job complete, a claim bound; `none`: until it exists.",
                    optional=True,
                    computed=True,
                    default="ready",
                ),
                Attribute(
                    "timeout_seconds",
                    Number(),
                    "How long to wait, for readiness as for deletion.",
                    optional=True,
                    computed=True,
                    default=120,
                ),
                Attribute("id", String(), "API version, kind, namespace and name.", computed=True),
                Attribute("uid", String(), "The object's uid in the cluster.", computed=True),
            ],
        )

    def validate(self, diags: _Diagnostics, type_name: str, config: State) -> None:
        """Check what can be checked without a cluster."""
        manifest, wait, timeout = config.get("manifest"), config.get("wait"), config.get("timeout_seconds")
        if isinstance(manifest, str):
            try:
                _manifest(manifest)
            except ValueError as wrong:
                diags.add_error(f"{type_name}: not a Kubernetes object", str(wrong), path=["manifest"])
        if isinstance(wait, str) and wait not in {"ready", "none"}:
            diags.add_error(f"{type_name}: wait is {wait!r}", "It must be `ready` or `none`.", path=["wait"])
        if isinstance(timeout, (int, float)) and timeout <= 0:
            diags.add_error(f"{type_name}: timeout_seconds must be more than 0", path=["timeout_seconds"])

    def plan(self, ctx: _Context, current: State | None, planned: State) -> State:  # noqa: ARG002
        """A manifest for another object means another id and uid."""
        if current is None:
            return planned
        manifest = planned["manifest"]
        if manifest is Unknown or Ref.of(_manifest(manifest)) != _ref(current):
            return {**planned, "id": Unknown, "uid": Unknown}
        return planned

    def create(self, ctx: _Context, planned: State) -> State | None:
        """Apply the object and wait for it."""
        manifest = _manifest(planned["manifest"])
        ref = Ref.of(manifest)
        state = {**planned, "id": ref.id, "uid": ""}
        try:
            with _client(planned) as client:
                existing = _existing(client, ref)
                if existing is not None and existing["metadata"].get("deletionTimestamp"):
                    wait_gone(client, ref, planned["timeout_seconds"])
                elif existing is not None and not _is_ours(existing):
                    ctx.diagnostics.add_error(f"{ref} exists already", _NOT_OURS)
                    # Not even as tainted: destroying would delete what isn't ours.
                    return None
                self._apply(client, ref, manifest, state)
        except (ClusterError, KubeconfigError) as wrong:
            ctx.diagnostics.add_error(f"Can't create {ref}", str(wrong))
        return state

    def read(self, ctx: _Context, current: State) -> State | None:
        """The object's state; None where it, or the whole cluster, is gone."""
        ref = _ref(current)
        live = self._if_alive(ctx, current, lambda client: client.get(ref))
        if live is None:
            return None
        uid = live["metadata"]["uid"]
        if current["uid"] in {None, "", uid}:
            return {**current, "uid": uid}
        # Somebody made it again, nobody knows how: showing what it is now makes Terraform apply the manifest anew.
        return {**current, "uid": uid, "manifest": json.dumps(_shown(live), sort_keys=True)}

    def update(self, ctx: _Context, current: State, planned: State) -> State | None:
        """Apply the changed object in place, or make another one where the identity changed."""
        manifest = _manifest(planned["manifest"])
        ref, before = Ref.of(manifest), _ref(current)
        if ref != before:
            failed = self._delete(ctx, current)
            return current if failed else self.create(ctx, planned)
        state = {**planned, "id": ref.id, "uid": current["uid"]}
        try:
            with _client(planned) as client:
                self._apply(client, ref, manifest, state)
        except (ClusterError, KubeconfigError) as wrong:
            ctx.diagnostics.add_error(f"Can't update {ref}", str(wrong))
            return {**current, "uid": state["uid"]}
        return state

    def delete(self, ctx: _Context, current: State) -> None:
        """Delete the object and wait until it is gone, what it owns first; fine where it, or the cluster, is gone."""
        self._delete(ctx, current)

    def _delete(self, ctx: _Context, current: State) -> bool:
        ref = _ref(current)

        def delete(client: Client) -> None:
            remove(client, ref, current["timeout_seconds"])

        try:
            self._if_alive(ctx, current, delete)
        except (ClusterError, KubeconfigError) as wrong:
            ctx.diagnostics.add_error(f"Can't delete {ref}", str(wrong))
            return True
        self._services.ledger.gone(LEDGER_KIND, _ledger_id(current, ref))
        return False

    def _apply(self, client: Client, ref: Ref, manifest: Mapping[str, Any], state: State) -> None:
        """Apply and wait, telling the ledger and writing the uid into the state as soon as there is one."""
        identity = _ledger_id(state, ref)
        self._services.ledger.intent(LEDGER_KIND, identity, {"kubeconfig": state["kubeconfig"], "id": ref.id})
        state["uid"] = client.apply(manifest)["metadata"]["uid"]
        self._services.ledger.created(LEDGER_KIND, identity)
        if state["wait"] == "ready":
            wait_ready(client, ref, state["timeout_seconds"], self._services.progress)

    def _if_alive(self, ctx: _Context, current: State, ask: Callable[[Client], Any]) -> Any:
        """Ask the cluster something; None where there is no cluster any more."""
        path = current["kubeconfig"]
        if not Path(path).exists():
            return None
        try:
            with _client(current, patience_seconds=2.0) as client:
                return ask(client)
        except UnreachableError as silent:
            ctx.diagnostics.add_warning(
                "The cluster is gone",
                f"{silent}\nWhat {path} leads to doesn't answer, so its objects count as gone too.",
            )
            return None


RESOURCES = (KubernetesObject,)
"""The resource types of this folder."""

_NOT_OURS = """It was made by something else, and is left alone: destroying this environment would delete it.
Give the object another name or namespace, or delete the existing one first."""


def sweep(identity: str, details: Mapping[str, Any]) -> list[str]:
    """Remove one ledger entry's object, if its cluster still stands; says what was removed. Raises ClusterError."""
    del identity
    ref = Ref.parse(details["id"])
    if not Path(details["kubeconfig"]).exists():
        return []
    try:
        with Client.from_kubeconfig(Path(details["kubeconfig"]), patience_seconds=2.0) as client:
            return [str(ref)] if remove(client, ref, 120.0) else []
    except UnreachableError:
        return []


def _manifest(text: str) -> dict[str, Any]:
    try:
        manifest = json.loads(text)
    except json.JSONDecodeError as wrong:
        raise ValueError(f"the manifest isn't JSON: {wrong}") from wrong
    if not isinstance(manifest, dict):
        raise ValueError("the manifest isn't a JSON object")  # noqa: TRY004 - the caller reports values, not types
    Ref.of(manifest)
    return manifest


def _ref(state: State) -> Ref:
    """Which object a state is about. An id is lacking where creating failed before anything was done."""
    return Ref.parse(state["id"]) if state["id"] else Ref.of(_manifest(state["manifest"]))


def _client(state: State, *, patience_seconds: float = 10.0) -> Client:
    return Client.from_kubeconfig(Path(state["kubeconfig"]), patience_seconds=patience_seconds)


def _existing(client: Client, ref: Ref) -> dict[str, Any] | None:
    """The object as it is, once its kind is served: the definition of a kind takes a moment to get there."""
    deadline = client.monotonic() + _SERVED_SECONDS
    while True:
        try:
            client.kind(ref.api_version, ref.kind)
        except NoSuchKindError:
            if client.monotonic() >= deadline:
                raise
            client.pause(0.25)
        else:
            return client.get(ref)


def _is_ours(thing: Mapping[str, Any]) -> bool:
    fields = thing["metadata"].get("managedFields") or ()
    return any(entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply" for entry in fields)


def _shown(thing: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {name: value for name, value in thing["metadata"].items() if name != "managedFields"}
    return {name: value for name, value in thing.items() if name not in {"status", "metadata"}} | {"metadata": metadata}


def _ledger_id(state: State, ref: Ref) -> str:
    return f"{state['kubeconfig']}#{ref.id}"
