from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

MANIFESTS = Path(__file__).resolve().parents[3] / "scenarios" / "apps" / "shop" / "manifests"
OBJECTS: list[dict[str, Any]] = [
    found for file in sorted(MANIFESTS.glob("*.yaml")) for found in yaml.safe_load_all(file.read_text())
]
WORKLOADS = {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] in {"Deployment", "StatefulSet"}}


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] == kind}


def containers(workload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pod = workload["spec"]["template"]["spec"]
    yield from [*pod.get("initContainers", []), *pod["containers"]]


@pytest.mark.parametrize("name", WORKLOADS)
def test_pods_have_the_fewest_rights(name: str) -> None:
    pod = WORKLOADS[name]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    for container in containers(WORKLOADS[name]):
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"] is True
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert container["imagePullPolicy"] == "IfNotPresent"
        assert {"cpu", "memory"} == container["resources"]["requests"].keys() == container["resources"]["limits"].keys()


@pytest.mark.parametrize("name", WORKLOADS)
def test_pods_are_probed_scraped_and_labelled(name: str) -> None:
    template = WORKLOADS[name]["spec"]["template"]
    assert template["metadata"]["labels"] == {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop"}
    assert template["metadata"]["annotations"] == {"prometheus.io/scrape": "true", "prometheus.io/port": "8080"}
    (container,) = template["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["readinessProbe"]["periodSeconds"] == 1
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["args"] == [name]


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_address_leads_to_a_service(name: str) -> None:
    services = named("Service")
    for container in containers(WORKLOADS[name]):
        for entry in container.get("env", []):
            if entry["name"].endswith("_ADDR"):
                host, _, port = entry["value"].partition(":")
                assert entry["name"] == f"{host.upper()}_ADDR"
                assert int(port) in [each["port"] for each in services[host]["spec"]["ports"]]
                assert services[host]["spec"]["selector"] == {"app.kubernetes.io/name": host}
                assert host in WORKLOADS


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_setting_comes_from_an_object_that_is_there(name: str) -> None:
    maps, secrets = named("ConfigMap"), named("Secret")
    for container in containers(WORKLOADS[name]):
        for source in container.get("envFrom", []):
            assert source["configMapRef"]["name"] in maps
        for entry in container.get("env", []):
            if "secretKeyRef" in entry.get("valueFrom", {}):
                reference = entry["valueFrom"]["secretKeyRef"]
                assert reference["key"] in secrets[reference["name"]]["data"]
    for volume in WORKLOADS[name]["spec"]["template"]["spec"].get("volumes", []):
        if "configMap" in volume:
            assert volume["configMap"]["name"] in maps


def test_users_wait_for_every_other_service() -> None:
    (wait,) = WORKLOADS["load"]["spec"]["template"]["spec"]["initContainers"]
    assert wait["args"] == ["wait", *(f"http://{name}:8080/readyz" for name in sorted(named("Service")))]


def test_the_products_are_what_the_catalogue_reads() -> None:
    products = json.loads(named("ConfigMap")["catalogue-products"]["data"]["products.json"])
    assert all(each.keys() == {"id", "name", "price"} and each["price"] > 0 for each in products)
    assert len({each["id"] for each in products}) == len(products)
