from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tf.iface import CreateContext, DeleteContext, ReadContext
from tf.utils import Diagnostics

from itbc.providers import embedded
from itbc.providers.embedded import record
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.record import ClusterState
from itbc.providers.embedded.resources.cluster import EmbeddedCluster
from itbc.providers.embedded.resources.image import EmbeddedImage
from itbc.providers.embedded.resources.monitoring import EmbeddedMonitoring
from itbc.providers.embedded.resources.stores import EmbeddedLogs, EmbeddedTraces
from itbc.providers.embedded.spec import DEFAULT_RANGE
from itbc.providers.services import Services


class Silence:
    """A ledger that forgets."""

    def intent(self, kind: str, identity: str, details: Mapping[str, Any]) -> None: ...

    def created(self, kind: str, identity: str) -> None: ...

    def gone(self, kind: str, identity: str) -> None: ...


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(home=tmp_path, cache=tmp_path, ledger=Silence(), progress=lambda _line: None)


def arguments(folder: Path, **more: Any) -> dict[str, Any]:
    return {"name": "shop", "run_id": "run", "state_dir": str(folder), "expires": "x", "nodes": 1, **more}


def inside(folder: Path, **more: Any) -> dict[str, Any]:
    return {"cluster": "run.shop", "state_dir": str(folder), "masks": "", **more}


def texts(diagnostics: Diagnostics) -> list[str]:
    return [f"{each.summary}: {each.detail}" for each in diagnostics.diagnostics]


def test_the_types_and_their_arguments_are_those_of_the_contract() -> None:
    found = {
        resource.get_name(): (
            {each.name for each in resource.get_schema().attributes if each.required},
            {each.name for each in resource.get_schema().attributes if each.computed},
        )
        for resource in embedded.RESOURCES
    }
    assert found == {
        "embedded_cluster": (
            {"name", "run_id", "state_dir", "expires", "nodes"},
            {"id", "kubeconfig", "address"},
        ),
        "embedded_image": ({"cluster", "state_dir", "reference", "source", "source_digest"}, {"id", "digest"}),
        "embedded_monitoring": (
            {"cluster", "state_dir", "rules", "rules_digest", "namespaces", "masks"},
            {"id", "prometheus", "alertmanager", "metrics", "alerts"},
        ),
        "embedded_logs": ({"cluster", "state_dir", "masks"}, {"id", "url"}),
        "embedded_traces": ({"cluster", "state_dir", "masks"}, {"id", "url"}),
    }


def test_wrong_arguments_are_said_at_their_place(services: Services, tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    EmbeddedCluster(services).validate(diagnostics, "t", arguments(tmp_path, nodes=2, name="No Name"))
    assert [each.path for each in diagnostics.diagnostics] == [["name"], ["nodes"]]


def test_what_is_not_known_yet_is_not_judged(services: Services) -> None:
    diagnostics = Diagnostics()
    config = {"name": "shop", "run_id": None, "state_dir": None, "expires": None, "nodes": 1}
    EmbeddedCluster(services).validate(diagnostics, "t", config)
    assert diagnostics.diagnostics == []


def test_a_wrong_cluster_leaves_nothing_in_the_state(services: Services, tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    state = EmbeddedCluster(services).create(CreateContext(diagnostics, "t"), arguments(tmp_path, nodes=5))
    assert state is None
    assert diagnostics.has_errors()


def test_a_failed_boot_stays_in_the_state_under_its_id(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise EmbeddedError("the disk is full", "free some")

    monkeypatch.setattr("itbc.providers.embedded.resources.cluster.boot", fail)
    diagnostics = Diagnostics()
    state = EmbeddedCluster(services).create(CreateContext(diagnostics, "t"), arguments(tmp_path))
    assert state is not None
    assert (state["id"], state["address"]) == ("run.shop", None)
    assert texts(diagnostics) == ["The cluster shop can't be brought up: the disk is full\n\nfree some"]


def made(folder: Path) -> ClusterState:
    state = ClusterState(
        identity="run.shop",
        name="shop",
        folder=folder / "shop",
        node_name="shop-1",
        address="10.200.0.2",
        link="itbc0",
        range=DEFAULT_RANGE,
        program=Path("/node"),
        expires="x",
    )
    state.folder.mkdir()
    record.save(state)
    return state


def test_a_cluster_without_a_folder_is_gone(services: Services, tmp_path: Path) -> None:
    assert EmbeddedCluster(services).read(ReadContext(Diagnostics(), "t"), arguments(tmp_path)) is None


def test_a_dead_cluster_has_no_nodes_but_is_not_forgotten(services: Services, tmp_path: Path) -> None:
    made(tmp_path)
    state = EmbeddedCluster(services).read(ReadContext(Diagnostics(), "t"), arguments(tmp_path))
    assert state is not None
    assert state["nodes"] == 0


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    state = made(tmp_path)
    assert record.load(state.folder) == state
    assert record.find(tmp_path, "run.shop") == state
    assert record.find(tmp_path, "other.shop") is None
    state.layout.record.write_text("{}")
    with pytest.raises(EmbeddedError, match="no record of a cluster"):
        record.load(state.folder)


@pytest.mark.parametrize("resource", [EmbeddedImage, EmbeddedLogs, EmbeddedMonitoring, EmbeddedTraces])
def test_what_is_in_a_dead_cluster_is_gone_and_easily_deleted(
    services: Services, tmp_path: Path, resource: Any
) -> None:
    current = inside(tmp_path, reference="itbc.local/shop:1")
    for _ in range(2):
        assert resource(services).read(ReadContext(Diagnostics(), "t"), current) is None
        diagnostics = Diagnostics()
        resource(services).delete(DeleteContext(diagnostics, "t"), current)
        assert diagnostics.diagnostics == []
        if not (tmp_path / "shop").exists():
            made(tmp_path)


def test_what_belongs_to_no_cluster_is_an_error_with_its_state_kept(services: Services, tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    planned = inside(tmp_path, reference="itbc.local/shop:1", source=str(tmp_path), source_digest="1")
    state = EmbeddedImage(services).create(CreateContext(diagnostics, "t"), planned)
    assert state is not None
    assert state["id"] == "run.shop/itbc.local/shop:1"
    assert "there is no cluster run.shop" in texts(diagnostics)[0]
