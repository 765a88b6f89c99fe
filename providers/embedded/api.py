"""A small client for a cluster's API server, with the rights of a certificate of its PKI."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from itbc.providers.embedded.errors import EmbeddedError, NodeHostDied
from itbc.providers.embedded.kubeconfig import PORT
from itbc.providers.embedded.waiting import INTERVAL

_TIMEOUT = 10.0
_FIELD_MANAGER = "itbc"


class Api:
    """The API server at an address, for as long as `lives` says that there is one.

    Once the node host is gone its address belongs to nobody, and not a packet
    is sent there: every call asks `lives` first and raises NodeHostDied.
    """

    def __init__(self, address: str, pki: Path, lives: Callable[[], bool], user: str = "admin") -> None:
        context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        context.load_cert_chain(pki / f"{user}.crt", pki / f"{user}.key")
        self._lives = lives
        # Neither a proxy nor anything else of the user's environment has a say in this.
        self._client = httpx.Client(
            base_url=f"https://{address}:{PORT}", verify=context, timeout=_TIMEOUT, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> httpx.Response:
        """One request. Raises NodeHostDied, or httpx.TransportError where no answer came."""
        if not self._lives():
            raise NodeHostDied("the cluster's node host isn't running any more")
        return self._client.request(
            method, path, params=params, json=body, headers={"Content-Type": content_type} if body is not None else None
        )

    def get(self, path: str) -> dict[str, Any] | None:
        """An object; None where there is none, or no answer. Raises EmbeddedError for any other answer."""
        try:
            response = self.call("GET", path)
        except httpx.TransportError:
            return None
        if response.status_code == 200:
            found: dict[str, Any] = response.json()
            return found
        if response.status_code == 404 or response.is_server_error:
            return None
        raise EmbeddedError(f"the API server answered {response.status_code} to GET {path}: {_message(response)}")

    def ready(self) -> bool:
        """Whether the API server says that it is ready."""
        try:
            return self.call("GET", "/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def apply(self, path: str, manifest: Mapping[str, Any], seconds: float = 30.0) -> None:
        """Server-side apply. Tried again for a while, since some objects wait for others that controllers make.

        Raises EmbeddedError with the server's words when it still refuses in the end.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                response = self.call(
                    "PATCH",
                    path,
                    params={"fieldManager": _FIELD_MANAGER, "force": "true"},
                    body=manifest,
                    content_type="application/apply-patch+yaml",
                )
                refusal = "" if response.is_success else f"{response.status_code}: {_message(response)}"
            except httpx.TransportError as wrong:
                refusal = f"no answer: {wrong}"
            if not refusal:
                return
            if time.monotonic() > deadline:
                raise EmbeddedError(f"the API server doesn't take {path}: {refusal}")
            time.sleep(INTERVAL * 2)


def _message(response: httpx.Response) -> str:
    try:
        return str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        return response.text[:300]
