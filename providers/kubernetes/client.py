"""A small Kubernetes client: any kind of object, by server-side apply, with watches.

It talks to the API server of a kubeconfig and to nothing else: proxies come from
the kubeconfig, never from the environment, and the server is always verified as
the kubeconfig says.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from itbc.providers.kubernetes.kubeconfig import Access, read_access
from itbc.providers.kubernetes.refs import Ref

FIELD_MANAGER = "deployer"
"""The name that applied fields are owned by. Everybody can read it, so it says nothing of who applied them."""

_APPLY = "application/apply-patch+yaml"
_JSON_PATCH = "application/json-patch+json"
_MERGE_PATCH = "application/merge-patch+json"
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_BUSY = frozenset({429, 503, 504})
_PAGE = 500

Object = dict[str, Any]


class ClusterError(Exception):
    """Something about a cluster went wrong; the message says what."""


class UnreachableError(ClusterError):
    """Nothing answers at the API server's address, or something else does."""


class ApiError(ClusterError):
    """The API server refused a request: `status` is HTTP's, `reason` Kubernetes' word (`NotFound`, `Invalid`)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class NoSuchKindError(ClusterError):
    """The cluster has no such kind of object (yet: a definition takes a moment to be served)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object as the API server serves it; `plural` is its name in addresses."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """The address of one object, or of all where no name is given, in a namespace or in all of them."""
        root = "/api" if "/" not in self.api_version else "/apis"
        parts = [root, self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        return "/".join(parts)


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a watch: `ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`, and the object as it is then."""

    type: str
    object: Object


@dataclass(slots=True)
class Client:
    """A connection to one API server. Use it in one thread, as a context manager, or close it.

    `patience_seconds` is how long a request is tried again while the server
    can't be reached or says that it is busy; a creation is sent only once.
    """

    http: httpx.Client
    namespace: str = "default"
    server_name: str | None = None
    patience_seconds: float = 5.0
    monotonic: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep
    _kinds: dict[tuple[str, str], Kind] = field(default_factory=dict)

    @classmethod
    def from_kubeconfig(cls, path: Path, *, patience_seconds: float = 5.0, timeout_seconds: float = 30.0) -> Client:
        """Open a client for a kubeconfig's current context. Raises KubeconfigError."""
        access = read_access(path)
        return cls(
            http=_http(access, timeout_seconds),
            namespace=access.namespace,
            server_name=access.server_name,
            patience_seconds=patience_seconds,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.http.close()

    def get(self, ref: Ref) -> Object | None:
        """An object, or None where there is none (nor such a kind)."""
        try:
            return self.request("GET", self._path(ref))
        except NoSuchKindError:
            return None
        except ApiError as wrong:
            if wrong.status == 404:
                return None
            raise

    def list_objects(
        self, api_version: str, kind: str, namespace: str = "", *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """All objects of a kind in a namespace (in all without one), chosen by label and field selectors."""
        return self._list(self.kind(api_version, kind), namespace, labels=labels, fields=fields)

    def objects(self, kind: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        """All objects of a kind in a namespace, by the kind's name alone. Raises NoSuchKindError."""
        return self._list(self.find_kind(kind), namespace)

    def apply(self, manifest: Mapping[str, Any], *, manager: str = FIELD_MANAGER, dry_run: bool = False) -> Object:
        """Create or change an object by server-side apply, taking over fields that others set; gives what it is."""
        parameters = {"fieldManager": manager, "force": "true"} | ({"dryRun": "All"} if dry_run else {})
        path = self._path(Ref.of(manifest))
        return self.request("PATCH", path, parameters=parameters, body=manifest, content_type=_APPLY)

    def create(self, manifest: Mapping[str, Any]) -> Object:
        """Create an object. Raises ApiError (409) where it exists."""
        ref = Ref.of(manifest)
        kind = self.kind(ref.api_version, ref.kind)
        path = kind.path(ref.namespace or self.namespace)
        return self.request("POST", path, parameters={"fieldManager": FIELD_MANAGER}, body=manifest)

    def patch(self, ref: Ref, patch: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> Object:
        """Change an object by a JSON patch (RFC 6902, a list) or a merge patch (RFC 7396, a mapping)."""
        content_type = _MERGE_PATCH if isinstance(patch, Mapping) else _JSON_PATCH
        parameters = {"fieldManager": FIELD_MANAGER}
        return self.request("PATCH", self._path(ref), parameters=parameters, body=patch, content_type=content_type)

    def delete(self, ref: Ref, *, propagation: str = "Foreground", grace_seconds: int | None = None) -> bool:
        """Ask for an object's deletion; says whether there was one. `Foreground` removes what it owns first."""
        body: Object = {"propagationPolicy": propagation}
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        try:
            self.request("DELETE", self._path(ref), body=body)
        except NoSuchKindError:
            return False
        except ApiError as wrong:
            if wrong.status == 404:
                return False
            raise
        return True

    def watch(
        self,
        api_version: str,
        kind: str,
        namespace: str = "",
        *,
        since: str = "",
        labels: str = "",
        fields: str = "",
        seconds: float = 60.0,
    ) -> Generator[Event, None, None]:
        """The changes of objects of a kind from a resource version on, as they happen, for at most so many seconds.

        Close it when you leave in the middle. It may end early, and ends quietly where the connection breaks: read
        the objects again then and watch from there. Raises ApiError (410)
        where the resource version is too old.
        """
        parameters = {"watch": "true", "timeoutSeconds": str(max(1, round(seconds))), "resourceVersion": since}
        parameters |= _selectors(labels, fields)
        path = self.kind(api_version, kind).path(namespace)
        timeout = httpx.Timeout(10.0, read=seconds + 5.0)
        extensions = self._extensions()
        try:
            with self.http.stream("GET", path, params=parameters, timeout=timeout, extensions=extensions) as response:
                if response.is_error:
                    response.read()
                    raise _api_error(response)
                for line in response.iter_lines():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        status = event["object"]
                        raise ApiError(status.get("code", 500), status.get("reason", ""), status.get("message", ""))
                    yield Event(event["type"], event["object"])
        except httpx.TransportError:
            return

    def token(self, service_account: str, namespace: str, seconds: int, secret: Mapping[str, Any]) -> str:
        """A new token of a service account, valid for so many seconds (the API server gives no less than 600).

        It is bound to a Secret of the same namespace, as the API server has it: when that goes, the token dies.
        """
        account = quote(service_account, safe="")
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/serviceaccounts/{account}/token"
        metadata = secret["metadata"]
        bound = {"apiVersion": "v1", "kind": "Secret", "name": metadata["name"], "uid": metadata["uid"]}
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": max(600, seconds), "boundObjectRef": bound},
        }
        return str(self.request("POST", path, body=body)["status"]["token"])

    def kind(self, api_version: str, kind: str) -> Kind:
        """How the API server serves a kind. Raises NoSuchKindError."""
        if (api_version, kind) not in self._kinds:
            root = "/api" if "/" not in api_version else "/apis"
            try:
                served = self.request("GET", f"{root}/{api_version}")
            except ApiError as wrong:
                if wrong.status != 404:
                    raise
                served = {"resources": []}
            for entry in served["resources"]:
                if "/" not in entry["name"]:
                    found = Kind(api_version, entry["kind"], entry["name"], entry["namespaced"])
                    self._kinds[api_version, entry["kind"]] = found
        try:
            return self._kinds[api_version, kind]
        except KeyError:
            raise NoSuchKindError(f"the cluster has no {kind} in {api_version}") from None

    def find_kind(self, kind: str) -> Kind:
        """The kind of this name in the API server's preferred group and version. Raises NoSuchKindError."""
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=_DISCOVERY).get("items", ()):
                for version in group["versions"]:
                    for entry in version["resources"]:
                        if entry["responseKind"]["kind"] == kind and "list" in entry["verbs"]:
                            name = group["metadata"].get("name", "")
                            api_version = f"{name}/{version['version']}" if name else version["version"]
                            return Kind(api_version, kind, entry["resource"], entry["scope"] == "Namespaced")
        raise NoSuchKindError(f"the cluster has no kind {kind}")

    def request(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Object:
        """One request, tried again for a while as `patience_seconds` says. Raises UnreachableError and ApiError."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Accept": accept} | ({} if content is None else {"Content-Type": content_type})
        deadline = self.monotonic() + self.patience_seconds
        while True:
            wait = 0.1
            try:
                response = self.http.request(
                    method, path, params=parameters, content=content, headers=headers, extensions=self._extensions()
                )
            except httpx.TransportError as wrong:
                sent = not isinstance(wrong, (httpx.ConnectError, httpx.ConnectTimeout))
                if (sent and method == "POST") or self.monotonic() >= deadline:
                    raise UnreachableError(f"{self.http.base_url}: {type(wrong).__name__} {wrong}") from wrong
            else:
                if response.status_code not in _BUSY or self.monotonic() >= deadline:
                    return _answer(response)
                wait = _retry_after(response)
            self.pause(max(0.05, min(wait, deadline - self.monotonic())))

    def _extensions(self) -> dict[str, Any]:
        return {"sni_hostname": self.server_name} if self.server_name else {}

    def _path(self, ref: Ref) -> str:
        return self.kind(ref.api_version, ref.kind).path(ref.namespace or self.namespace, ref.name)

    def _list(self, kind: Kind, namespace: str, *, labels: str = "", fields: str = "") -> list[Object]:
        found: list[Object] = []
        parameters = {"limit": str(_PAGE)} | _selectors(labels, fields)
        while True:
            page = self.request("GET", kind.path(namespace), parameters=parameters)
            # The items of a list don't say what they are.
            found += [{"apiVersion": kind.api_version, "kind": kind.kind, **item} for item in page.get("items") or ()]
            more = page.get("metadata", {}).get("continue")
            if not more:
                return found
            parameters["continue"] = more


def _http(access: Access, timeout_seconds: float) -> httpx.Client:
    return httpx.Client(
        base_url=access.server,
        headers=dict(access.headers),
        verify=access.tls,
        timeout=httpx.Timeout(timeout_seconds, connect=5.0),
        proxy=access.proxy,
        trust_env=False,
    )


def _selectors(labels: str, fields: str) -> dict[str, str]:
    return ({"labelSelector": labels} if labels else {}) | ({"fieldSelector": fields} if fields else {})


def _answer(response: httpx.Response) -> Object:
    if response.is_error:
        raise _api_error(response)
    return dict(response.json())


def _api_error(response: httpx.Response) -> ApiError:
    try:
        status = response.json()
        return ApiError(response.status_code, status.get("reason", ""), status["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return ApiError(response.status_code, "", f"HTTP {response.status_code}: {response.text[:200]}")


def _retry_after(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("Retry-After", "1"))
    except ValueError:
        return 1.0
