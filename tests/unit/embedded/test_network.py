from __future__ import annotations

from ipaddress import IPv4Network

from itbc.providers.embedded.guard import ruleset
from itbc.providers.embedded.network import addresses, candidates, capacity, conflicts

POOL = IPv4Network("10.200.0.0/16")


def test_every_number_has_a_network_of_its_own() -> None:
    assert [str(address) for address in addresses(POOL, 0)] == ["10.200.0.1", "10.200.0.2"]
    assert [str(address) for address in addresses(POOL, 64)] == ["10.200.1.1", "10.200.1.2"]
    assert [str(address) for address in addresses(POOL, capacity(POOL) - 1)] == ["10.200.255.253", "10.200.255.254"]


def test_every_number_is_tried_once() -> None:
    for pool in (IPv4Network("10.200.0.0/24"), IPv4Network("10.200.0.0/30")):
        tried = list(candidates("run.shop", pool))
        assert sorted(tried) == list(range(capacity(pool)))


def test_clusters_begin_their_search_far_apart() -> None:
    starts = {next(candidates(f"run-{number}.shop", POOL)) for number in range(200)}
    assert len(starts) > 190
    assert next(candidates("run.shop", POOL)) == next(candidates("run.shop", POOL))


def test_routes_of_others_in_the_range_are_conflicts() -> None:
    routes = [
        {"dst": "default", "dev": "eth0"},
        {"dst": "192.168.1.0/24", "dev": "eth0"},
        {"dst": "10.200.4.0/24", "dev": "wg0"},
        {"dst": "10.200.0.9", "dev": "tun0"},
        {"dst": "10.0.0.0/8", "dev": "vpn0"},
    ]
    found = conflicts(POOL, routes)
    assert found == ["10.200.4.0/24 dev wg0", "10.200.0.9 dev tun0", "10.0.0.0/8 dev vpn0"]


def test_our_own_routes_are_no_conflicts() -> None:
    routes = [
        {"dst": "10.200.0.0/30", "dev": "itbc0", "protocol": "kernel"},
        {"type": "unreachable", "dst": "10.200.0.0/16", "protocol": "213"},
    ]
    assert conflicts(POOL, routes) == []


def test_the_guard_lets_services_and_pods_through_and_nothing_else_out() -> None:
    (node, _) = addresses(POOL, 3)
    text = ruleset(node)
    assert "table inet guard" in text
    assert text.count('oifname "eth0" ct state new,invalid,untracked reject') == 2
    assert f"ip daddr {{ 10.96.0.0/16, 10.244.0.0/16, {node} }} accept" in text
    closed = next(line for line in text.splitlines() if "tcp reset" in line)
    assert closed.strip().startswith("ip saddr 10.244.0.0/16 tcp dport {")
    assert {"9090", "9093", "9428", "16686"} <= set(closed.replace(",", " ").split())
    assert "4318" not in closed
