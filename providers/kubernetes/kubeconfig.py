"""Read a kubeconfig: where the API server is, how it is recognised, and who we are to it."""

from __future__ import annotations

import base64
import binascii
import json
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class KubeconfigError(Exception):
    """A kubeconfig is missing or can't be used. The message names the file and what to do."""


@dataclass(frozen=True, slots=True)
class Access:
    """All that is needed to talk to an API server.

    `headers` carry a token or a password where the user has one; certificates
    are in `tls`, which verifies the server unless the kubeconfig says not to.
    """

    server: str
    namespace: str
    tls: ssl.SSLContext
    headers: Mapping[str, str]
    server_name: str | None
    proxy: str | None


def read_access(path: Path) -> Access:
    """The access that a kubeconfig's current context describes. Raises KubeconfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as wrong:
        raise KubeconfigError(f"{path}: {wrong.strerror}") from wrong
    try:
        config = _parse(text)
        context = _named(config["contexts"], config["current-context"], "context")
        cluster = _named(config["clusters"], context["cluster"], "cluster")
        user = _named(config.get("users") or [], context.get("user", ""), "user") if context.get("user") else {}
        server = str(cluster["server"])
    except (ValueError, KeyError, TypeError) as wrong:
        raise KubeconfigError(f"{path}: not a usable kubeconfig: {wrong}") from wrong
    for unknown in ("exec", "auth-provider"):
        if unknown in user:
            raise KubeconfigError(
                f"{path}: the user signs in with `{unknown}`, which itbc doesn't run: "
                "use a kubeconfig with a token or a client certificate"
            )
    try:
        return Access(
            server=server.rstrip("/"),
            namespace=str(context.get("namespace") or "default"),
            tls=_tls(cluster, user, path.parent),
            headers=_headers(user, path.parent),
            server_name=cluster.get("tls-server-name"),
            proxy=cluster.get("proxy-url"),
        )
    except (OSError, ValueError, ssl.SSLError) as wrong:
        raise KubeconfigError(f"{path}: a certificate, key or token can't be read: {wrong}") from wrong


def _parse(text: str) -> dict[str, Any]:
    # Kubeconfigs made by itbc are JSON; PyYAML is loaded only for those of others.
    try:
        config = json.loads(text)
    except json.JSONDecodeError:
        import yaml  # noqa: PLC0415

        try:
            config = yaml.safe_load(text)
        except yaml.YAMLError as wrong:
            raise ValueError(str(wrong)) from wrong
    if not isinstance(config, dict):
        raise TypeError("it isn't a mapping")
    return config


def _named(entries: Sequence[Mapping[str, Any]], name: str, what: str) -> Mapping[str, Any]:
    for entry in entries:
        if entry["name"] == name:
            return dict(entry[what])
    raise ValueError(f"it has no {what} {name!r}")


def _tls(cluster: Mapping[str, Any], user: Mapping[str, Any], folder: Path) -> ssl.SSLContext:
    authority = _bytes(cluster, "certificate-authority", folder)
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    # Python 3.13 turns this on; certificates of many clusters lack the extensions that it wants.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = _bytes(user, "client-certificate", folder), _bytes(user, "client-key", folder)
    if certificate and key:
        # OpenSSL takes these from files only: a private one, gone at once.
        with tempfile.TemporaryDirectory(prefix="kubeconfig-") as private:
            chain = Path(private) / "chain.pem"
            chain.touch(mode=0o600)
            chain.write_bytes(certificate.rstrip() + b"\n" + key)
            context.load_cert_chain(chain)
    return context


def _headers(user: Mapping[str, Any], folder: Path) -> dict[str, str]:
    token = user.get("token")
    if not token and user.get("tokenFile"):
        token = (folder / user["tokenFile"]).read_text(encoding="utf-8").strip()
    if token:
        return {"Authorization": f"Bearer {token}"}
    if user.get("username"):
        pair = base64.b64encode(f"{user['username']}:{user.get('password', '')}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}
    return {}


def _bytes(entry: Mapping[str, Any], name: str, folder: Path) -> bytes | None:
    """A field that is either given in base64 (`NAME-data`) or as a path relative to the kubeconfig."""
    if data := entry.get(f"{name}-data"):
        try:
            return base64.b64decode(data, validate=True)
        except binascii.Error as wrong:
            raise ValueError(f"{name}-data: {wrong}") from wrong
    path = entry.get(name)
    return (folder / str(path)).read_bytes() if path else None
