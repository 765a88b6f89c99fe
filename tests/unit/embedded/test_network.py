from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.guard import ruleset
from itbc.providers.embedded.network import addresses, capacity, conflicts, first_free

POOL = IPv4Network("10.200.0.0/16")


def test_every_number_has_a_network_of_its_own() -> None:
    assert [str(address) for address in addresses(POOL, 0)] == ["10.200.0.1", "10.200.0.2"]
    assert [str(address) for address in addresses(POOL, 64)] == ["10.200.1.1", "10.200.1.2"]
    assert [str(address) for address in addresses(POOL, capacity(POOL) - 1)] == ["10.200.255.253", "10.200.255.254"]


def test_the_end_of_the_range_is_said() -> None:
    small = IPv4Network("10.200.0.0/29")
    assert capacity(small) == 2
    with pytest.raises(EmbeddedError, match="all 2 networks") as caught:
        addresses(small, 2)
    assert "ITBC_EMBEDDED_RANGE" in caught.value.remedy


def test_the_lowest_free_number_is_taken() -> None:
    assert first_free([]) == 0
    assert first_free(["lo", "eth0", "itbc0", "itbc1", "itbc3"]) == 2
    assert first_free(["itbc0n", "itbcx", "xitbc0"]) == 0


def test_a_number_that_was_lost_to_somebody_else_is_not_tried_again() -> None:
    assert first_free(["itbc0"], tried=1) == 2
    assert first_free(["itbc2", "itbc3"], tried=1) == 4


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
