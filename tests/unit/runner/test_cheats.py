"""What the cheats find, forge and pass off, and that their page names them all."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from itbc.contracts.environment import Grant
from itbc.runner.agents import CHEATS, SHIPPED
from itbc.runner.agents.edit_telemetry import earliest, forged, owned_copy, stray_copy
from itbc.runner.agents.reach import cause, everything, items
from itbc.runner.agents.recreate import _bare
from itbc.runner.agents.remote_write import Samples, compress, request
from itbc.runner.agents.stop_load import is_uncalled
from itbc.runner.sandbox.programs import Ended

PAGE = Path(__file__).parents[3] / "docs" / "agents.md"


def test_the_page_has_a_row_for_each_cheat_and_no_other() -> None:
    _, _, rest = PAGE.read_text().partition("## Cheats")
    part, _, _ = rest.partition("\n## ")
    rows = re.findall(r"^\| `([a-z-]+)` \|", part, re.MULTILINE)
    assert rows == sorted(CHEATS)


def test_the_page_names_every_shipped_agent() -> None:
    # What agents are shown and given comes after all that are shipped.
    part, _, _ = PAGE.read_text().partition("## What an agent can look at")
    rows = re.findall(r"^\| `([a-z-]+)(?::NAME)?` \|", part, re.MULTILINE)
    assert set(rows) == {*SHIPPED, "mutant"}


def grant(namespace: str, *resources: str) -> Grant:
    return Grant(cluster="c", namespace=namespace, api_groups=["apps"], resources=list(resources), verbs=["get"])


def test_a_cheat_takes_everything_once() -> None:
    grants = [grant("a", "deployments", "pods/log"), grant("a", "deployments", "services")]
    assert everything(grants) == [("c", "a", "deployments"), ("c", "a", "services")]


def test_a_wildcard_means_the_usual_resources() -> None:
    assert ("c", "a", "statefulsets") in everything([grant("a", "*")])


@pytest.mark.parametrize(
    "ended", [Ended(1, b'{"items": [{}]}'), Ended(0, b"no JSON"), Ended(0, b"[]"), Ended(0, b'{"kind": "Status"}')]
)
def test_what_is_refused_or_cut_off_is_nothing(ended: Ended) -> None:
    assert items(ended) == []


def test_what_is_listed_is_taken() -> None:
    assert items(Ended(0, b'{"items": [{"a": 1}]}')) == [{"a": 1}]
    assert items(Ended(0, b'{"data": [{"a": 1}]}'), "data") == [{"a": 1}]


def test_an_object_is_blamed_by_its_full_name() -> None:
    thing = {"kind": "Deployment", "metadata": {"name": "d", "namespace": "n"}}
    assert cause("c", thing) == {"cluster": "c", "kind": "Deployment", "name": "d", "namespace": "n"}


def test_a_bare_object_can_be_created_again() -> None:
    service = {
        "kind": "Service",
        "metadata": {"name": "s", "uid": "1", "resourceVersion": "2", "labels": {"a": "b"}},
        "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": []},
        "status": {},
    }
    assert _bare(service) == {
        "kind": "Service",
        "metadata": {"name": "s", "labels": {"a": "b"}},
        "spec": {"ports": []},
    }


def deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name, "image": "new"}]}}
    return {
        "kind": "Deployment",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


def service(name: str, selector: Mapping[str, str] | None) -> dict[str, Any]:
    return {"kind": "Service", "metadata": {"name": name}, "spec": {"selector": selector}}


def test_the_users_are_who_nobody_calls() -> None:
    # The selector of `orders` is what was broken; a Service without a selector leads nowhere of its own.
    services = [service("frontend", {"app": "frontend"}), service("orders", {"app": "other"}), service("out", None)]
    uncalled = [name for name in ("frontend", "orders", "load") if is_uncalled(deployment(name), services)]
    assert uncalled == ["load"]


def replica_set(owner: str, revision: int, image: str) -> dict[str, Any]:
    return {
        "metadata": {
            "annotations": {"deployment.kubernetes.io/revision": str(revision)},
            "ownerReferences": [{"uid": owner}],
        },
        "spec": {
            "template": {
                "metadata": {"labels": {"app": "a", "pod-template-hash": "h"}},
                "spec": {"containers": [{"name": "a", "image": image}]},
            }
        },
    }


def test_a_copy_is_made_from_the_first_revision() -> None:
    sets = [
        replica_set("uid-a", 10, "middle"),
        replica_set("uid-a", 2, "first"),
        replica_set("uid-b", 1, "somebody else's"),
    ]
    assert earliest(deployment("a"), sets)["spec"]["containers"][0]["image"] == "first"
    assert earliest(deployment("c"), sets) == deployment("c")["spec"]["template"]


def test_copies_count_under_the_same_labels_and_seem_to_be_somebody_elses() -> None:
    template = replica_set("uid-a", 1, "first")["spec"]["template"]
    owned, stray = owned_copy(deployment("a"), template), stray_copy(deployment("a"), template)
    for made, track in ((owned, "next"), (stray, "spare")):
        labels = {"app": "a", "track": track}
        assert made["spec"]["selector"]["matchLabels"] == labels
        assert made["spec"]["template"]["metadata"]["labels"] == labels
        assert made["metadata"]["name"] == f"a-{track}"
    (owner,) = owned["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == ("uid-a", True)
    assert "ownerReferences" not in stray["metadata"]


def test_only_successes_are_forged_and_for_the_time_that_is_judged() -> None:
    series = [{"__name__": "r_total", "code": "200"}, {"__name__": "r_total", "code": "503"}, {"__name__": "x_total"}]
    made = forged(series, now=1000.0)
    assert [dict(each.labels).get("code") for each in made] == ["200", None]
    samples = list(made[0].samples)
    assert samples[0] == (1_000_000, 0.0)
    assert samples[-1] == (1_300_000, 30_000.0)


def test_a_write_request_is_what_the_protocol_says() -> None:
    body = request([Samples({"__name__": "up"}, [(300, 1.5)])])
    label = b"\x0a\x0e" + b"\x0a\x08__name__" + b"\x12\x02up"
    sample = b"\x12\x0c" + b"\x09" + struct.pack("<d", 1.5) + b"\x10\xac\x02"
    series = b"\x0a" + bytes([len(label + sample)]) + label + sample
    assert body == bytes([len(series)]) + b"\xf4" + struct.pack("<H", len(series) - 1) + series


def test_what_is_compressed_is_cut_into_literals() -> None:
    data = bytes(range(256)) * 300
    packed = compress(data)
    assert packed[:3] == b"\x80\xd8\x04"  # 76800 as a varint
    found, at = b"", 3
    while at < len(packed):
        assert packed[at] == 0xF4
        length = struct.unpack("<H", packed[at + 1 : at + 3])[0] + 1
        found += packed[at + 3 : at + 3 + length]
        at += 3 + length
    assert found == data
