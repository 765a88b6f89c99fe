"""Kubeconfigs in the forms that clusters hand out."""

from __future__ import annotations

import base64
import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from itbc.providers.kubernetes.kubeconfig import KubeconfigError, read_access


def config(cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **context: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", **context}}],
    }


def write(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "config"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture(scope="module")
def pair() -> tuple[bytes, bytes]:
    """A self-signed certificate and its key, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    certificate = builder.sign(key, hashes.SHA256())
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(encoding), private


def test_a_token_and_the_namespace(tmp_path: Path) -> None:
    access = read_access(write(tmp_path, config(user={"token": "t"}, namespace="shop")))
    assert access.server == "https://127.0.0.1:6443"
    assert access.namespace == "shop"
    assert access.headers == {"Authorization": "Bearer t"}
    assert access.tls.verify_mode == ssl.CERT_REQUIRED
    assert access.tls.check_hostname


def test_yaml_and_files_beside_it(tmp_path: Path, pair: tuple[bytes, bytes]) -> None:
    (tmp_path / "crt").write_bytes(pair[0])
    (tmp_path / "key").write_bytes(pair[1])
    (tmp_path / "token").write_text("from-a-file\n")
    path = tmp_path / "config"
    user = {"client-certificate": "crt", "client-key": "key", "tokenFile": "token"}
    path.write_text(yaml.safe_dump(config({"certificate-authority": "crt"}, user)))
    access = read_access(path)
    assert access.headers == {"Authorization": "Bearer from-a-file"}
    assert [dict(part[0] for part in c["subject"]) for c in access.tls.get_ca_certs()] == [{"commonName": "test"}]


def test_data_in_the_file_leaves_no_key_behind(
    tmp_path: Path, pair: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "tmp"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    certificate, key = (base64.b64encode(part).decode() for part in pair)
    user = {"client-certificate-data": certificate, "client-key-data": key}
    read_access(write(tmp_path, config({"certificate-authority-data": certificate}, user)))
    assert list(private.iterdir()) == []


def test_a_password(tmp_path: Path) -> None:
    access = read_access(write(tmp_path, config(user={"username": "a", "password": "b"})))
    assert access.headers == {"Authorization": "Basic YTpi"}


def test_the_server_is_not_verified_only_where_the_kubeconfig_says_so(tmp_path: Path) -> None:
    access = read_access(write(tmp_path, config({"insecure-skip-tls-verify": True})))
    assert access.tls.verify_mode == ssl.CERT_NONE


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "it isn't a mapping"),
        ("a: [", "not a usable kubeconfig"),
        ("{}", "not a usable kubeconfig: 'contexts'"),
        (json.dumps(config() | {"current-context": "there"}), "it has no context 'there'"),
        (json.dumps(config(user={"exec": {"command": "aws"}})), "signs in with `exec`"),
        (json.dumps(config({"certificate-authority": "none.crt"})), "can't be read"),
        (json.dumps(config({"certificate-authority-data": "%"})), "certificate-authority-data"),
        (json.dumps(config({"certificate-authority-data": "bm90IGEgY2VydGlmaWNhdGU="})), "can't be read"),
    ],
)
def test_what_cannot_be_used_is_said_with_the_file(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(KubeconfigError) as wrong:
        read_access(path)
    assert str(path) in str(wrong.value)
    assert said in str(wrong.value)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match=r"nowhere: No such file"):
        read_access(tmp_path / "nowhere")
