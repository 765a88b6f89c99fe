"""The compiled plays against a real cluster: break, prove, undo, and what an agent could see of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from play_scene import Plays, cluster, visible

from itbc.compiler.plan import Break
from itbc.contracts import schemas
from itbc.dsl.catalogue import Change, Effect, FaultRequest, LiveCondition
from itbc.dsl.source import SourceFile, Span
from itbc.providers.embedded.nodefiles import PAUSE_IMAGE
from itbc.providers.faults import catalogue
from itbc.providers.kubernetes.client import Client
from itbc.providers.kubernetes.refs import Ref
from itbc.providers.kubernetes.rollout import wait_gone, wait_ready

pytestmark = pytest.mark.e2e

CHECKOUT: Mapping[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "checkout", "namespace": "shop", "labels": {"team": "shop"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "checkout"}},
        "template": {
            "metadata": {"labels": {"app": "checkout"}},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "containers": [
                    {
                        "name": "checkout",
                        "image": PAUSE_IMAGE,
                        "env": [
                            {"name": "PORT", "value": "8080"},
                            {"name": "PAYMENT_ADDR", "value": "http://payment:8080"},
                        ],
                    }
                ],
            },
        },
    },
}
CHECKOUT_REF = Ref.of(CHECKOUT)
POLICY: Mapping[str, Any] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "checkout", "namespace": "shop"},
    "spec": {"podSelector": {"matchLabels": {"app": "checkout"}}, "policyTypes": ["Ingress"]},
}
POLICY_REF = Ref.of(POLICY)
WRONG = "http://payment:9999/{{ lookup('env', 'HOME') }}"


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with cluster(tmp_path_factory.mktemp("faults"), "faults", {}) as found:
        yield found


def broken(within_seconds: float | None = None) -> Break:
    kind = catalogue().faults["k8s.env.modified"]
    request = FaultRequest(
        "faults", "shop", "Deployment", "checkout", CHECKOUT, {"variable": "PAYMENT_ADDR", "value": WRONG}
    )
    source = SourceFile("s.itb", "fault", PurePosixPath("s.itb"))
    effect = kind.effect(request)
    if within_seconds is not None:
        effect = replace(effect, within_seconds=within_seconds)
    return Break(
        id="fault/wrong",
        needs=(),
        fault="wrong",
        kind=kind.kind,
        cluster="faults",
        namespace="shop",
        changes=tuple(kind.changes(request)),
        effect=effect,
        span=Span(source, 0, 5),
    )


def cut() -> Break:
    """A fault that is one more object."""
    exists = LiveCondition("networking.k8s.io/v1", "NetworkPolicy", "length(@) == `1`", "it is there", name="checkout")
    gone = replace(exists, expression="length(@) == `0`", what="it is gone")
    change = Change("networking.k8s.io/v1", "NetworkPolicy", "checkout", "shop", created=POLICY)
    return replace(broken(), id="fault/cut", fault="cut", changes=(change,), effect=Effect(20.0, (exists,), (gone,)))


@pytest.fixture
def plays(kubeconfig: Path, tmp_path: Path) -> Iterator[Plays]:
    with Client.from_kubeconfig(kubeconfig) as client:
        client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        client.apply(CHECKOUT)
        wait_ready(client, CHECKOUT_REF, 120.0)
        yield Plays.emitted(tmp_path, [broken(), cut()], kubeconfig, client)
        client.delete(CHECKOUT_REF)
        wait_gone(client, CHECKOUT_REF, 60.0)


def live(plays: Plays) -> dict[str, Any]:
    found = plays.client.get(CHECKOUT_REF)
    assert found is not None
    return dict(found)


def values(plays: Plays) -> list[str]:
    """PAYMENT_ADDR in every pod that isn't going away."""
    pods = plays.client.list_objects("v1", "Pod", "shop", labels="app=checkout")
    env = [pod["spec"]["containers"][0]["env"] for pod in pods if not pod["metadata"].get("deletionTimestamp")]
    return [entry["value"] for entries in env for entry in entries if entry["name"] == "PAYMENT_ADDR"]


def test_break_prove_undo(plays: Plays):
    healthy = live(plays)
    plays.fine("wrong", "inject")
    schemas.validate("undo", plays.record("wrong").read_bytes())
    assert plays.record("wrong").stat().st_mode & 0o777 == 0o600
    plays.fine("wrong", "prove")
    assert values(plays) == [WRONG, WRONG]

    looks = visible(live(plays))
    value = looks["spec"]["template"]["spec"]["containers"][0]["env"][1]
    assert value == {"name": "PAYMENT_ADDR", "value": WRONG}
    value["value"] = "http://payment:8080"
    assert looks == visible(healthy), "the fault shows somewhere else than in the value"

    plays.fine("wrong", "undo")
    assert visible(live(plays)) == visible(healthy)
    assert values(plays) == ["http://payment:8080"] * 2
    assert not plays.record("wrong").exists()

    before = live(plays)["metadata"]["resourceVersion"]
    assert "changed=0" in plays.fine("wrong", "undo")
    assert live(plays)["metadata"]["resourceVersion"] == before


def test_undo_by_another_process_after_the_object_was_deleted(plays: Plays):
    healthy = visible(live(plays))
    plays.fine("wrong", "inject")
    plays.client.delete(CHECKOUT_REF)
    plays.fine("wrong", "undo")
    again = visible(live(plays))
    assert again["spec"] == healthy["spec"]
    assert again["metadata"]["labels"] == healthy["metadata"]["labels"]
    assert values(plays) == ["http://payment:8080"] * 2


def test_a_second_injection_does_not_save_the_broken_object(plays: Plays):
    plays.fine("wrong", "inject")
    saved = plays.record("wrong").read_bytes()
    plays.fine("wrong", "inject")
    assert plays.record("wrong").read_bytes() == saved
    plays.fine("wrong", "undo")
    plays.client.apply(CHECKOUT)


def test_an_effect_that_is_not_there_fails_loudly(plays: Plays, tmp_path: Path):
    never = Plays.emitted(tmp_path / "never", [broken(within_seconds=1.0)], plays.kubeconfig, plays.client)
    done = never.run("wrong", "prove")
    assert done.returncode == 2
    assert "not so after 1 s: the pods of checkout have the wrong PAYMENT_ADDR" in done.stdout


def test_another_object_than_the_declared_one_is_not_broken(plays: Plays):
    order = [{"op": "remove", "path": "/spec/template/spec/containers/0/env/0"}]
    plays.client.patch(CHECKOUT_REF, order)
    done = plays.run("wrong", "inject")
    assert done.returncode == 2
    assert "can't change Deployment shop/checkout" in done.stdout
    assert live(plays)["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] == "http://payment:8080"


def test_what_a_fault_creates_is_gone_after_the_undo(plays: Plays):
    assert plays.client.get(POLICY_REF) is None
    plays.fine("cut", "inject")
    schemas.validate("undo", plays.record("cut").read_bytes())
    made = plays.client.get(POLICY_REF)
    assert made is not None
    assert [entry["manager"] for entry in made["metadata"]["managedFields"]] == ["kubectl-create"]
    assert not made["metadata"].get("annotations")
    plays.fine("cut", "prove")
    assert "changed=0" not in plays.fine("cut", "undo")
    assert plays.client.get(POLICY_REF) is None
    assert "changed=0" in plays.fine("cut", "undo")


def test_what_is_there_already_is_not_created(plays: Plays):
    plays.client.apply(POLICY)
    done = plays.run("cut", "inject")
    assert done.returncode == 2
    assert "can't create what is there already: NetworkPolicy shop/checkout" in done.stdout
    assert not plays.record("cut").exists()
    plays.fine("cut", "undo")
    assert plays.client.get(POLICY_REF) is not None
    plays.client.delete(POLICY_REF)
