"""A cluster's certificates: two authorities for Kubernetes, one for etcd, and everybody's leaf."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from itbc.providers.embedded.files import write
from itbc.providers.embedded.rights import NETWORK_POLICY_USER, NODE_NETWORK_USER
from itbc.providers.embedded.spec import API_SERVICE_ADDRESS, DNS_DOMAIN

LIFETIME = dt.timedelta(days=30)
_BACKDATED = dt.timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority: who signs, and with what."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a leaf certificate is for, and under which names and addresses it may serve."""

    common_name: str
    organization: str = ""
    names: Sequence[str] = ()
    addresses: Sequence[str] = ()


def create(folder: Path, node_name: str, node_address: str, now: dt.datetime) -> None:
    """Write all keys and certificates of a new cluster (`NAME.key`, `NAME.crt`, and the service accounts' pair)."""
    cluster = _authority(folder, "ca", "kubernetes", now)
    front = _authority(folder, "front-proxy-ca", "front-proxy-ca", now)
    store = _authority(folder, "etcd-ca", "etcd-ca", now)
    api = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", f"kubernetes.default.svc.{DNS_DOMAIN}")
    loopback = ("127.0.0.1",)
    leaves = (
        ("apiserver", cluster, Subject(
            "kube-apiserver", names=(*api, "localhost"), addresses=(*loopback, str(API_SERVICE_ADDRESS), node_address)
        )),
        ("apiserver-kubelet-client", cluster, Subject("kube-apiserver-kubelet-client", "system:masters")),
        ("apiserver-etcd-client", store, Subject("kube-apiserver-etcd-client")),
        ("etcd", store, Subject("etcd", names=("localhost",), addresses=loopback)),
        ("front-proxy-client", front, Subject("front-proxy-client")),
        ("admin", cluster, Subject("kubernetes-admin", "system:masters")),
        ("controller-manager", cluster, Subject("system:kube-controller-manager")),
        ("scheduler", cluster, Subject("system:kube-scheduler")),
        ("proxy", cluster, Subject("system:kube-proxy")),
        (NETWORK_POLICY_USER, cluster, Subject(NETWORK_POLICY_USER)),
        (NODE_NETWORK_USER, cluster, Subject(NODE_NETWORK_USER)),
        ("kubelet", cluster, Subject(
            f"system:node:{node_name}", "system:nodes", names=(node_name,), addresses=(*loopback, node_address)
        )),
    )  # fmt: skip
    for name, authority, subject in leaves:
        issue(folder, name, authority, subject, now)
    accounts = _key(folder, "sa")
    public = accounts.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    write(folder / "sa.pub", public)


def load_authority(folder: Path, name: str) -> Authority:
    """An authority of an existing cluster."""
    key = serialization.load_pem_private_key((folder / f"{name}.key").read_bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{folder / name}.key is no elliptic curve key")
    return Authority(x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes()), key)


def issue(folder: Path, name: str, authority: Authority, subject: Subject, now: dt.datetime) -> None:
    """Write a leaf certificate, good for both ends of a connection, and its key."""
    key = _key(folder, name)
    builder = (
        _builder(_name(subject.common_name, subject.organization), authority.certificate.subject, key, now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(leaf=True), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False
        )
    )  # fmt: skip
    alternatives: list[x509.GeneralName] = [x509.DNSName(dns) for dns in subject.names]
    alternatives.extend(x509.IPAddress(ipaddress.ip_address(address)) for address in subject.addresses)
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    certificate = builder.sign(authority.key, hashes.SHA256())
    write(folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))


def encoded(path: Path) -> str:
    """A file's content as kubeconfig files embed it."""
    return base64.b64encode(path.read_bytes()).decode()


def _authority(folder: Path, name: str, common_name: str, now: dt.datetime) -> Authority:
    key = _key(folder, name)
    subject = _name(common_name)
    certificate = (
        _builder(subject, subject, key, now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(leaf=False), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write(folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))
    return Authority(certificate, key)


def _key(folder: Path, name: str) -> ec.EllipticCurvePrivateKey:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write(folder / f"{name}.key", pem)
    return key


def _name(common_name: str, organization: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: dt.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + LIFETIME)
    )


def _usage(*, leaf: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=not leaf,
        crl_sign=not leaf,
        encipher_only=False,
        decipher_only=False,
    )
