from __future__ import annotations

import datetime as dt
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import PolicyBuilder, Store

from itbc.providers.embedded import pki

NOW = dt.datetime(2030, 1, 2, 3, 4, 5, tzinfo=dt.UTC)

LEAVES = {
    "apiserver": ("ca", "kube-apiserver", ""),
    "apiserver-kubelet-client": ("ca", "kube-apiserver-kubelet-client", "system:masters"),
    "apiserver-etcd-client": ("etcd-ca", "kube-apiserver-etcd-client", ""),
    "etcd": ("etcd-ca", "etcd", ""),
    "front-proxy-client": ("front-proxy-ca", "front-proxy-client", ""),
    "admin": ("ca", "kubernetes-admin", "system:masters"),
    "controller-manager": ("ca", "system:kube-controller-manager", ""),
    "scheduler": ("ca", "system:kube-scheduler", ""),
    "proxy": ("ca", "system:kube-proxy", ""),
    "network-policy": ("ca", "network-policy", ""),
    "node-network": ("ca", "node-network", ""),
    "kubelet": ("ca", "system:node:shop-1", "system:nodes"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pki")
    pki.create(place, "shop-1", "10.200.0.2", NOW)
    return place


def certificate(folder: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes())


@pytest.mark.parametrize("name", LEAVES)
def test_leaves_are_for_whom_they_should_be_and_signed_by_their_authority(folder: Path, name: str) -> None:
    authority, common_name, organization = LEAVES[name]
    leaf = certificate(folder, name)
    leaf.verify_directly_issued_by(certificate(folder, authority))
    (found,) = leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert found.value == common_name
    organizations = [each.value for each in leaf.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    assert organizations == ([organization] if organization else [])
    usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert set(usage) == {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH}
    assert leaf.not_valid_before_utc < NOW < leaf.not_valid_after_utc
    assert leaf.not_valid_after_utc - NOW == dt.timedelta(days=30)


def test_authorities_sign_nothing_of_each_other(folder: Path) -> None:
    for name, authority in (("admin", "etcd-ca"), ("etcd", "ca"), ("front-proxy-client", "ca")):
        with pytest.raises(Exception, match=r"issuer|subject|name"):
            certificate(folder, name).verify_directly_issued_by(certificate(folder, authority))


@pytest.mark.parametrize("name", ["kubernetes", "kubernetes.default.svc.cluster.local", "localhost"])
def test_the_api_server_is_known_by_its_names(folder: Path, name: str) -> None:
    store = Store([certificate(folder, "ca")])
    verifier = PolicyBuilder().store(store).time(NOW).build_server_verifier(x509.DNSName(name))
    assert verifier.verify(certificate(folder, "apiserver"), [])


def test_the_api_server_is_known_by_its_addresses(folder: Path) -> None:
    names = certificate(folder, "apiserver").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = {str(address) for address in names.get_values_for_type(x509.IPAddress)}
    assert addresses == {"127.0.0.1", "10.96.0.1", "10.200.0.2"}


def test_a_leaf_can_be_added_later(folder: Path) -> None:
    pki.issue(folder, "prometheus", pki.load_authority(folder, "ca"), pki.Subject("prometheus"), NOW)
    certificate(folder, "prometheus").verify_directly_issued_by(certificate(folder, "ca"))


def test_nobody_else_reads_a_key(folder: Path) -> None:
    keys = list(folder.glob("*.key"))
    assert len(keys) >= len(LEAVES) + 4
    assert {stat.S_IMODE(key.stat().st_mode) for key in keys} == {0o600}


def test_the_service_accounts_public_key_fits(folder: Path) -> None:
    done = subprocess.run(
        ("openssl", "pkey", "-in", folder / "sa.key", "-pubout"), capture_output=True, text=True, check=True
    )
    assert done.stdout == (folder / "sa.pub").read_text()
