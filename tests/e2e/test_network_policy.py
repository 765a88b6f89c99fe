"""NetworkPolicies are enforced between real pods, at once, also on connections that are open already."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

RUN = f"policy-{os.getpid()}"
SHOP, OTHER = "shop", "other"


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory, peers: ModuleType, machine: ModuleType) -> Iterator[Any]:
    before = machine.snapshot(RUN)
    cache = Path(os.environ.get("ITBC_CACHE", "/var/cache/itbc"))
    with peers.cluster(tmp_path_factory.mktemp("policy"), RUN, cache) as made:
        made.deploy(SHOP, "frontend", "cart", "email")
        made.deploy(OTHER, "guest")
        for source in ("shop/frontend", "shop/cart", "shop/email", "other/guest"):
            peers.eventually(lambda pod=source: made.reaches(pod, _url("cart")), f"{source} reaches cart")
        yield made
    assert machine.settled(before, RUN) == []


@pytest.fixture(autouse=True)
def _no_policy_stays(stand: Any) -> Iterator[None]:
    yield
    stand.kubectl("delete", "networkpolicy", "-n", SHOP, "--all")


def _url(name: str, port: int = 80) -> str:
    return f"http://{name}.{SHOP}.svc.cluster.local:{port}/"


def _policy(app: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "tested", "namespace": SHOP},
        "spec": {"podSelector": {"matchLabels": {"app": app}} if app else {}, **spec},
    }


def _app(name: str) -> dict[str, Any]:
    return {"podSelector": {"matchLabels": {"app": name}}}


def _in_force(stand: Any, peers: ModuleType, policy: Mapping[str, Any]) -> None:
    before = stand.node("nft", "list", "tables")
    assert "network-policy" not in before
    stand.apply(policy)
    peers.eventually(lambda: "network-policy" in stand.node("nft", "list", "tables"), "the table", 2)


def _removed(stand: Any, peers: ModuleType) -> None:
    stand.kubectl("delete", "networkpolicy", "-n", SHOP, "--all")
    peers.eventually(lambda: "network-policy" not in stand.node("nft", "list", "tables"), "no table", 2)
    assert stand.reaches("shop/frontend", _url("cart"))


def test_an_open_connection_is_cut_and_healed(stand: Any, peers: ModuleType) -> None:
    kept = ("shop/frontend", _url("cart"), "kept")
    assert stand.reaches(*kept)
    assert stand.call(*kept)["reused"] is True
    _in_force(stand, peers, _policy("cart", ingress=[{"from": [_app("email")]}]))
    cut = stand.call(*kept)
    assert cut["reused"] is True, "the connection that was open is the one that is tried"
    assert "Timeout" in cut["error"], cut
    assert not stand.reaches("shop/frontend", _url("cart"))
    assert not stand.reaches("other/guest", _url("cart"))
    # What the policy allows, what it isn't about, and the pod itself by way of its own Service.
    assert stand.reaches("shop/email", _url("cart"))
    assert stand.reaches("shop/frontend", _url("email"))
    assert stand.reaches("shop/cart", _url("frontend"))
    assert stand.reaches("shop/cart", _url("cart"))
    _removed(stand, peers)
    assert stand.reaches(*kept)


def test_the_nodes_probes_are_always_allowed(stand: Any, peers: ModuleType) -> None:
    _in_force(stand, peers, _policy("", policyTypes=["Ingress", "Egress"]))
    stand.kubectl("rollout", "restart", "-n", SHOP, "deploy/email")
    stand.rolled_out(SHOP, "email")
    assert not stand.reaches("shop/frontend", _url("email"))
    _removed(stand, peers)


def test_egress_covers_dns_and_the_node_itself(stand: Any, peers: ModuleType) -> None:
    api = "https://kubernetes.default.svc.cluster.local/"
    before = stand.call("shop/frontend", api)["error"]
    assert "certificate" in before, "the API server is reached, and only its certificate isn't known"
    dns = {"namespaceSelector": {}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}
    lookup = {"to": [dns], "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
    _in_force(stand, peers, _policy("frontend", policyTypes=["Egress"], egress=[lookup, {"to": [_app("cart")]}]))
    assert stand.reaches("shop/frontend", _url("cart"))
    assert not stand.reaches("shop/frontend", _url("email"))
    assert "certificate" not in stand.call("shop/frontend", api)["error"]
    assert stand.reaches("shop/cart", _url("frontend")), "replies of others' connections aren't egress"
    # Without the rule for DNS, the name isn't found any more.
    stand.apply(_policy("frontend", policyTypes=["Egress"], egress=[{"to": [_app("cart")]}]))
    peers.eventually(lambda: not stand.reaches("shop/frontend", _url("cart")), "no DNS")
    address = stand.kubectl("get", "pods", "-n", SHOP, "-l", "app=cart", "-o", "jsonpath={.items[0].status.podIP}")
    assert stand.reaches("shop/frontend", f"http://{address}:8080/")
    _removed(stand, peers)


@pytest.mark.parametrize("port", ["web", 8080], ids=["named", "numbered"])
def test_ports_are_the_pods_own(stand: Any, peers: ModuleType, port: str | int) -> None:
    _in_force(stand, peers, _policy("cart", ingress=[{"ports": [{"port": port}]}]))
    assert stand.reaches("shop/frontend", _url("cart"))
    assert not stand.reaches("shop/frontend", _url("cart", 81))
    _removed(stand, peers)


def test_ranges_of_ports_blocks_and_namespaces(stand: Any, peers: ModuleType) -> None:
    guest = stand.kubectl("get", "pods", "-n", OTHER, "-o", "jsonpath={.items[0].status.podIP}")
    everybody_else = {"ipBlock": {"cidr": "10.244.0.0/16", "except": [f"{guest}/32"]}}
    span = [{"port": 9000, "endPort": 9100}, {"port": 9090}]
    _in_force(stand, peers, _policy("cart", ingress=[{"from": [everybody_else], "ports": span}]))
    assert stand.reaches("shop/frontend", _url("cart", 81))
    assert not stand.reaches("shop/frontend", _url("cart"))
    assert not stand.reaches("other/guest", _url("cart", 81))
    named = {"namespaceSelector": {"matchLabels": {"name": OTHER}}}
    stand.apply(_policy("cart", ingress=[{"from": [named]}]))
    peers.eventually(lambda: stand.reaches("other/guest", _url("cart")), "the guest's turn", 5)
    assert not stand.reaches("shop/frontend", _url("cart", 81))
    _removed(stand, peers)


def test_a_restart_of_pods_and_programs_changes_nothing(stand: Any, peers: ModuleType) -> None:
    _in_force(stand, peers, _policy("cart", ingress=[]))
    stand.kubectl("delete", "pod", "-n", SHOP, "-l", "app in (cart, frontend)", "--wait=true")
    stand.rolled_out(SHOP, "cart", "frontend")
    assert not stand.reaches("shop/frontend", _url("cart"))
    (victim,) = stand.processes("network-policy")
    os.kill(victim, 9)
    assert not stand.reaches("shop/frontend", _url("cart"))
    peers.eventually(lambda: stand.processes("network-policy") not in ([], [victim]), "the program again")
    stand.kubectl("delete", "networkpolicy", "-n", SHOP, "--all")
    peers.eventually(lambda: stand.reaches("shop/frontend", _url("cart")), "removal is noticed")


def test_what_a_policy_drops_is_counted(stand: Any, peers: ModuleType) -> None:
    def count() -> str:
        path = "jsonpath={.data.shop\\.tested}"
        return str(stand.kubectl("get", "configmap", "-n", "kube-system", "network-policy-drops", "-o", path))

    # The policy of the test before has the same name, and what was cut then is still sent again by its senders.
    peers.eventually(lambda: count() == "", "earlier policies are forgotten", 5)
    _in_force(stand, peers, _policy("email", ingress=[{"from": [_app("frontend")]}]))
    peers.eventually(lambda: count() == "0", "nothing is dropped yet", 5)
    assert stand.reaches("shop/frontend", _url("email"))
    assert count() == "0"
    assert not stand.reaches("other/guest", _url("email"))
    peers.eventually(lambda: int(count()) > 0, "what was dropped is counted", 5)
    # A new process isn't misled by what the one before has noted.
    (victim,) = stand.processes("network-policy")
    stand.kubectl("delete", "networkpolicy", "-n", SHOP, "--all")
    os.kill(victim, 9)
    peers.eventually(lambda: count() == "", "the policy that is gone is forgotten", 15)
    peers.eventually(lambda: stand.reaches("other/guest", _url("email")), "nothing is in force any more")
