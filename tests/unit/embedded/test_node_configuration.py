from __future__ import annotations

import datetime as dt
import json
import stat
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
import yaml

from itbc.providers.embedded import components, dns, nodefiles, pki
from itbc.providers.embedded.kubeconfig import write_kubeconfig
from itbc.providers.embedded.layout import Layout

ADDRESS = IPv4Address("10.200.0.2")


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    made = Layout(tmp_path_factory.mktemp("cluster"))
    pki.create(made.pki, "shop-1", str(ADDRESS), dt.datetime.now(dt.UTC))
    nodefiles.write_all(made, "itbc-run.shop", "shop-1", ADDRESS)
    return made


def flags(command: Any) -> dict[str, str]:
    return dict(word.removeprefix("--").partition("=")[::2] for word in command[1:])


def every_component() -> list[components.Component]:
    return [
        *components.first(ADDRESS),
        *components.with_runtime(ADDRESS, "shop-1"),
        *components.with_api(),
        *components.with_rights(),
    ]


def test_every_file_a_component_is_told_of_exists(layout: Layout) -> None:
    named = [
        value
        for component in every_component()
        for value in flags(component.command).values()
        if value.startswith("/etc/")
    ]
    named.append(every_component()[1].command[-1])
    assert len(named) > 20
    for path in named:
        assert layout.inside(path).is_file(), path


def test_no_configuration_names_a_place_of_this_machine(layout: Layout) -> None:
    for file in layout.etc.rglob("*"):
        if file.is_file() and file.name != "ld.so.cache":
            assert str(layout.folder) not in file.read_text(errors="replace"), file
    for component in every_component():
        assert str(layout.folder) not in " ".join(component.command)


def test_components_agree_with_one_another(layout: Layout) -> None:
    api = flags(components.first(ADDRESS)[2].command)
    kubelet = yaml.safe_load(layout.inside("/etc/kubernetes/kubelet.yaml").read_text())
    proxy = yaml.safe_load(layout.inside("/etc/kubernetes/proxy.yaml").read_text())
    assert api["service-cluster-ip-range"] == "10.96.0.0/16"
    assert kubelet["clusterDNS"] == ["10.96.0.10"]
    assert kubelet["cgroupRoot"] == "/itbc-run.shop"
    assert proxy["hostnameOverride"] == "shop-1"
    socket = kubelet["containerRuntimeEndpoint"].removeprefix("unix://")
    assert f'address = "{socket}"' in layout.inside("/etc/containerd/config.toml").read_text()
    assert socket == "/run/containerd/containerd.sock", "cadvisor looks nowhere else"


def test_settings_of_the_whole_machine_are_left_alone(layout: Layout) -> None:
    proxy = yaml.safe_load(layout.inside("/etc/kubernetes/proxy.yaml").read_text())
    assert proxy["conntrack"] == {
        "maxPerCore": 0,
        "min": 0,
        "tcpCloseWaitTimeout": "0s",
        "tcpEstablishedTimeout": "0s",
    }


def test_secrets_are_closed(layout: Layout) -> None:
    for file in layout.etc.glob("kubernetes/*.conf"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_kubeconfig_stands_on_its_own(layout: Layout, tmp_path: Path) -> None:
    write_kubeconfig(tmp_path / "admin.kubeconfig", "shop", "10.200.0.2", layout.pki, "admin")
    content = json.loads((tmp_path / "admin.kubeconfig").read_text())
    assert content["current-context"] == "shop"
    assert content["clusters"][0]["cluster"]["server"] == "https://10.200.0.2:6443"
    assert set(content["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}


def test_every_pod_and_the_dns_use_images_that_are_there() -> None:
    assert f'sandbox_image = "{nodefiles.PAUSE_IMAGE}"' in nodefiles.containerd()
    deployment = next(body for path, body in dns.objects() if "/deployments/" in path)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == nodefiles.PAUSE_IMAGE
    service = next(body for path, body in dns.objects() if "/services/" in path)
    assert service["spec"]["clusterIP"] == "10.96.0.10"


@pytest.mark.parametrize(
    ("deployment", "answer"),
    [
        (None, False),
        ({}, False),
        ({"status": {"availableReplicas": 0}}, False),
        ({"status": {"availableReplicas": 1}}, True),
    ],
)
def test_dns_is_there_when_a_pod_is(deployment: dict[str, Any] | None, answer: bool) -> None:  # noqa: FBT001
    assert dns.available(deployment) is answer
