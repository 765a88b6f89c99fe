from __future__ import annotations

from ipaddress import IPv4Network
from pathlib import Path

import pytest

from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.spec import (
    DEFAULT_RANGE,
    ClusterSpec,
    address_range,
    cgroup_name,
    cluster_name,
    link_address,
    problems,
)


def spec(name: str = "shop", run_id: str = "20261201-ab", nodes: int = 1, pool: str = "10.200.0.0/16") -> ClusterSpec:
    return ClusterSpec(name, run_id, Path("/state"), "2999-01-01T00:00:00Z", nodes, IPv4Network(pool))


def test_a_good_spec_has_no_problems() -> None:
    assert problems(spec()) == []


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        (spec(name="Shop"), "name"),
        (spec(name="a" * 41), "name"),
        (spec(name="-shop"), "name"),
        (spec(run_id="../x"), "run_id"),
        (spec(run_id=""), "run_id"),
        (spec(nodes=0), "nodes"),
        (spec(nodes=3), "nodes"),
        (spec(pool="10.200.0.0/31"), "range"),
        (spec(pool="10.244.0.0/24"), "range"),
        (spec(pool="10.0.0.0/8"), "range"),
    ],
)
def test_what_is_wrong_is_said_at_its_argument(wrong: ClusterSpec, argument: str) -> None:
    assert {name for name, _ in problems(wrong)} == {argument}


def test_a_relative_state_folder_is_refused() -> None:
    assert [name for name, _ in problems(ClusterSpec("shop", "run", Path("state"), ""))] == ["state_dir"]


def test_names_follow_from_the_id() -> None:
    made = spec(run_id="run.with.dots")
    assert made.identity == "run.with.dots.shop"
    assert cluster_name(made.identity) == "shop"
    assert cgroup_name(made.identity) == "itbc-run.with.dots.shop"
    assert made.folder == Path("/state/shop")
    assert made.node_name == "shop-1"


@pytest.mark.parametrize("identity", ["shop", ".shop", "run.", "run./../shop", "run.Shop", "/run.shop"])
def test_what_is_no_id_is_refused(identity: str) -> None:
    with pytest.raises(EmbeddedError, match="not the id"):
        cluster_name(identity)


def test_link_addresses_are_local_and_differ() -> None:
    first, second = link_address("run.a"), link_address("run.b")
    assert first != second
    assert first == link_address("run.a")
    # The second bit of the first octet says "locally administered", the first "one receiver".
    assert int(first[:2], 16) & 0b11 == 0b10
    assert len(first) == 17


def test_the_range_can_be_set() -> None:
    assert address_range({}) == DEFAULT_RANGE
    assert address_range({"ITBC_EMBEDDED_RANGE": "172.31.0.0/20"}) == IPv4Network("172.31.0.0/20")
    for wrong in ("10.200.0.1/16", "house", "fd00::/64"):
        with pytest.raises(EmbeddedError, match="no IPv4 network") as caught:
            address_range({"ITBC_EMBEDDED_RANGE": wrong})
        assert "for instance" in caught.value.remedy
    with pytest.raises(EmbeddedError, match="too small"):
        address_range({"ITBC_EMBEDDED_RANGE": "10.0.0.0/32"})
