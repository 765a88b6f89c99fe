"""Packets from some pods to some others are late, as a ConfigMap says, and no others are."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

RUN = f"delay-{os.getpid()}"
SHOP = "shop"
ANNOTATION = "node-network.kubernetes.io/"
DELAY = 250


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory, peers: ModuleType, machine: ModuleType) -> Iterator[Any]:
    before = machine.snapshot(RUN)
    cache = Path(os.environ.get("ITBC_CACHE", "/var/cache/itbc"))
    with peers.cluster(tmp_path_factory.mktemp("delay"), RUN, cache) as made:
        made.deploy(SHOP, "frontend", "cart", "email")
        for name in ("cart", "email"):
            peers.eventually(lambda to=name: made.reaches("shop/frontend", _url(to)), f"frontend reaches {name}")
        peers.eventually(lambda: made.reaches("shop/cart", _url("frontend")), "cart reaches frontend")
        yield made
    assert machine.settled(before, RUN) == []


@pytest.fixture(autouse=True)
def _no_delay_stays(stand: Any) -> Iterator[None]:
    yield
    stand.kubectl("delete", "configmap", "-n", "kube-system", "tested", "--ignore-not-found")


def _url(name: str, port: int = 80) -> str:
    return f"http://{name}.{SHOP}.svc.cluster.local:{port}/"


def _wish(**more: str) -> dict[str, Any]:
    data = {
        "from_namespace": SHOP,
        "from_selector": "app=frontend",
        "to_namespace": SHOP,
        "to_selector": "app=cart",
        "delay_milliseconds": str(DELAY),
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "tested", "namespace": "kube-system", "labels": {f"{ANNOTATION}kind": "delay"}},
        "data": {**data, **more},
    }


def _noted(stand: Any) -> dict[str, str]:
    found = json.loads(stand.kubectl("get", "configmap", "-n", "kube-system", "tested", "-o", "json"))
    annotations = found["metadata"].get("annotations", {})
    return {key.removeprefix(ANNOTATION): value for key, value in annotations.items() if key.startswith(ANNOTATION)}


def _took(stand: Any, source: str, url: str, connection: str) -> float:
    """The median of some calls in milliseconds, after one that opens the connection."""
    answers = [stand.call(source, url, connection) for _ in range(4)]
    assert all(each["status"] == 200 for each in answers), answers
    return float(statistics.median(each["milliseconds"] for each in answers[1:]))


def _rules(stand: Any) -> list[str]:
    return [line for line in stand.node("iptables-save", "-t", "mangle").splitlines() if "NODE-NETWORK" in line]


def _wished(stand: Any, peers: ModuleType, **more: str) -> None:
    stand.apply(_wish(**more))
    peers.eventually(lambda: _noted(stand).get("pod-pairs") == "1", "the delay", 5)


def _removed(stand: Any, peers: ModuleType) -> None:
    stand.kubectl("delete", "configmap", "-n", "kube-system", "tested")
    peers.eventually(lambda: _rules(stand) == [], "the end of the rules", 5)


def test_one_edge_is_late_and_its_neighbours_are_not(stand: Any, peers: ModuleType) -> None:
    edge, back, other = (
        ("shop/frontend", _url("cart")),
        ("shop/cart", _url("frontend")),
        ("shop/frontend", _url("email")),
    )
    assert _took(stand, *edge, "kept") < DELAY / 2
    _wished(stand, peers)
    kept, new = _took(stand, *edge, "kept"), _took(stand, *edge, "new")
    # One round trip more is one delay more: a new connection takes one to be made.
    assert DELAY <= kept < DELAY * 1.6
    assert DELAY * 2 <= new < DELAY * 2.6
    assert _took(stand, *back, "kept") < DELAY / 2
    assert _took(stand, *other, "kept") < DELAY / 2
    assert _took(stand, *other, "new") < DELAY / 2
    count = int(_noted(stand)["delayed-packets"])
    assert count > 0
    _took(stand, *edge, "kept")
    peers.eventually(lambda: int(_noted(stand)["delayed-packets"]) > count, "more packets")
    _removed(stand, peers)
    assert _took(stand, *edge, "kept") < DELAY / 2
    assert _took(stand, *edge, "new") < DELAY / 2


def test_only_the_port_that_is_meant(stand: Any, peers: ModuleType) -> None:
    _wished(stand, peers, port="9090")
    assert _took(stand, "shop/frontend", _url("cart", 81), "kept") >= DELAY
    assert _took(stand, "shop/frontend", _url("cart"), "kept") < DELAY / 2
    _removed(stand, peers)


def test_jitter_stays_in_its_bounds(stand: Any, peers: ModuleType) -> None:
    _wished(stand, peers, jitter_milliseconds="100")
    stand.call("shop/frontend", _url("cart"), "kept")
    answers = [stand.call("shop/frontend", _url("cart"), "kept")["milliseconds"] for _ in range(8)]
    assert min(answers) >= DELAY - 100
    assert max(answers) < DELAY + 100 + 150
    assert max(answers) - min(answers) > 20
    _removed(stand, peers)


def test_a_restart_heals_nothing(stand: Any, peers: ModuleType) -> None:
    _wished(stand, peers)
    stand.kubectl("delete", "pod", "-n", SHOP, "-l", "app in (cart, frontend)", "--wait=true")
    stand.rolled_out(SHOP, "cart", "frontend")
    # The new pods' addresses are known a moment after they are ready, at the Service as well as here.
    peers.eventually(lambda: _noted(stand)["pod-pairs"] == "1", "the new pair")
    peers.eventually(lambda: stand.reaches("shop/frontend", _url("cart")), "the new pods")
    assert _took(stand, "shop/frontend", _url("cart"), "kept") >= DELAY
    count = int(_noted(stand)["delayed-packets"])
    (victim,) = stand.processes("edge-delay")
    os.kill(victim, 9)
    # Without the program nothing is late, and nothing is stuck.
    assert stand.reaches("shop/frontend", _url("cart"))
    peers.eventually(lambda: stand.processes("edge-delay") not in ([], [victim]), "the program again")
    peers.eventually(lambda: _took(stand, "shop/frontend", _url("cart"), "kept") >= DELAY, "the delay again")
    peers.eventually(lambda: int(_noted(stand)["delayed-packets"]) > count, "the count goes on")
    _removed(stand, peers)


def test_what_is_malformed_is_refused_with_a_reason(stand: Any, peers: ModuleType) -> None:
    stand.apply(_wish(delay_milliseconds="a lot"))
    peers.eventually(lambda: "refused" in _noted(stand), "the refusal", 5)
    assert _noted(stand) == {"refused": 'delay_milliseconds: "a lot" is no whole number from 1 to 60000'}
    assert _rules(stand) == []
    stand.apply(_wish())
    peers.eventually(lambda: "refused" not in _noted(stand), "it is taken", 5)
    assert _took(stand, "shop/frontend", _url("cart"), "kept") >= DELAY
    _removed(stand, peers)
