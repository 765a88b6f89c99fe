"""Every fault of the shipped scenarios on the real shop: broken, proven, not healed by restarts, undone, healthy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from play_scene import Plays, cluster, visible

from itbc.cli import assembly
from itbc.compiler.lower import lower
from itbc.compiler.plan import Plan
from itbc.contracts import schemas
from itbc.dsl.catalogue import Change
from itbc.dsl.checking import check
from itbc.dsl.diagnostics import Sink
from itbc.providers.kubernetes.client import Client
from itbc.providers.kubernetes.refs import Ref
from itbc.providers.kubernetes.rollout import wait_gone, wait_ready

pytestmark = pytest.mark.e2e

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
NAMES = sorted(path.parent.name for path in (SCENARIOS / "sre").glob("*/scenario.itb"))
WORKLOADS = ("Deployment", "StatefulSet")
HEALTHY_SECONDS = 120.0


def planned(name: str) -> Plan:
    sink = Sink()
    scenario = check(SCENARIOS / "sre" / name / "scenario.itb", assembly.catalogue(), sink)
    assert scenario is not None, sink.diagnostics
    plan = lower(scenario, assembly.targets()["embedded"], sink)
    assert plan is not None, sink.diagnostics
    return plan


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The admin kubeconfig of a cluster in which the shop is healthy."""
    source = {"itbc.local/shop:1": SCENARIOS / "apps" / "shop" / "service"}
    with cluster(tmp_path_factory.mktemp("families"), "families", source) as kubeconfig:
        (application,) = planned(NAMES[0]).applications
        with Client.from_kubeconfig(kubeconfig) as client:
            client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": application.namespace}})
            for phase in application.phases:
                for declared in phase:
                    client.apply(declared.manifest)
            healthy(client, application.namespace)
        yield kubeconfig


@pytest.fixture
def client(shop: Path) -> Iterator[Client]:
    with Client.from_kubeconfig(shop) as found:
        yield found


def ref_of(change: Change) -> Ref:
    return Ref(change.api_version, change.kind, change.name, change.namespace)


def workloads(client: Client, namespace: str) -> list[dict[str, Any]]:
    """Every workload of the shop but its users, who'd only find it closed."""
    found = [live for kind in WORKLOADS for live in client.list_objects("apps/v1", kind, namespace)]
    return [live for live in found if live["metadata"]["name"] != "load"]


def healthy(client: Client, namespace: str) -> None:
    """Wait until every workload is."""
    for kind in WORKLOADS:
        for live in client.list_objects("apps/v1", kind, namespace):
            wait_ready(client, Ref("apps/v1", kind, live["metadata"]["name"], namespace), HEALTHY_SECONDS)


def guarded(client: Client, namespace: str) -> dict[str, Any]:
    """Everything readable of the objects that a fault may change."""
    return {
        f"{kind}/{live['metadata']['name']}": visible(live)
        for version, kind in (("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("v1", "Service"))
        for live in client.list_objects(version, kind, namespace)
    }


def restart(client: Client, live: Mapping[str, Any], namespace: str) -> None:
    """Delete the pods of what was broken: those of a workload, or those that a Service is there for."""
    selector = live["spec"]["selector"].get("matchLabels") or {"app.kubernetes.io/name": live["metadata"]["name"]}
    labels = ",".join(f"{key}={value}" for key, value in selector.items())
    for pod in client.list_objects("v1", "Pod", namespace, labels=labels):
        ref = Ref("v1", "Pod", pod["metadata"]["name"], namespace)
        client.delete(ref)
        if live["kind"] != "StatefulSet":  # there the next one has the same name
            wait_gone(client, ref, 60.0)


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_contract(name: str, shop: Path, client: Client, tmp_path: Path):
    plan = planned(name)
    plays = Plays.emitted(tmp_path, plan.faults, shop, client)
    namespace = plan.faults[0].namespace
    before = guarded(client, namespace)

    for step in plan.faults:
        plays.fine(step.fault, "inject")
        schemas.validate("undo", plays.record(step.fault).read_bytes())
        assert plays.record(step.fault).stat().st_mode & 0o777 == 0o600
    for step in plan.faults:
        plays.fine(step.fault, "prove")
    broken = guarded(client, namespace)
    changes = [change for step in plan.faults for change in step.changes]
    created = [ref_of(change) for change in changes if change.created is not None]
    touched = {f"{change.kind}/{change.name}" for change in changes if change.created is None}
    assert {key for key in before if broken[key]["spec"] != before[key]["spec"]} == touched
    assert {key for key in before if broken[key]["metadata"] != before[key]["metadata"]} == set()

    for step in plan.faults:
        for change in step.changes:
            live = client.get(ref_of(change))
            assert live is not None
            # What was created governs pods that it doesn't name: those of any workload.
            for each in [live] if change.created is None else workloads(client, namespace):
                restart(client, each, namespace)
        plays.fine(step.fault, "prove")

    for step in reversed(plan.faults):
        plays.fine(step.fault, "undo")
    assert guarded(client, namespace) == before
    assert [client.get(ref) for ref in created] == [None for _ in created]
    healthy(client, namespace)
    for step in plan.faults:
        assert "changed=0" in plays.fine(step.fault, "undo")
        assert not plays.record(step.fault).exists()
