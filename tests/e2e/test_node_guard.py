"""No pod gets at what observes its cluster, but for the port that its traces go to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from play_scene import SilentLedger

from itbc.providers.embedded.telemetry import store
from itbc.providers.embedded.telemetry.logs import LOGS
from itbc.providers.embedded.telemetry.traces import TRACES
from itbc.providers.services import Services

pytestmark = pytest.mark.e2e

RUN = f"guard-{os.getpid()}"


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory, peers: ModuleType, machine: ModuleType) -> Iterator[Any]:
    before = machine.snapshot(RUN)
    cache = Path(os.environ.get("ITBC_CACHE", "/var/cache/itbc"))
    folder = tmp_path_factory.mktemp("guard")
    services = Services(home=folder, cache=cache, ledger=SilentLedger(), progress=lambda _: None)
    with peers.cluster(folder, RUN, cache) as made:
        made.deploy("shop", "frontend")
        for each in (LOGS, TRACES):
            store.start(each, made.state, [], services)
        yield made
    assert machine.settled(before, RUN) == []


@pytest.mark.parametrize("url", ["http://{node}:9428/health", "http://{node}:16686/api/services"])
def test_a_store_answers_this_machine_and_no_pod(stand: Any, url: str) -> None:
    there = url.format(node=stand.state.address)
    assert httpx.get(there, trust_env=False).status_code == 200
    answer = stand.call("shop/frontend", there)
    assert answer["status"] == 0
    assert "refused" in answer["error"]


def test_a_pod_gets_at_the_collector_of_traces(stand: Any) -> None:
    # It takes POST only.
    assert stand.call("shop/frontend", f"http://{stand.state.address}:4318/v1/traces")["status"] == 405


def test_a_store_that_is_ended_is_gone_with_what_it_collected(stand: Any) -> None:
    for each in (LOGS, TRACES):
        assert store.lives(each, stand.state)
        store.stop(each, stand.state)
        assert not store.lives(each, stand.state)
    assert not (stand.state.layout.var / "lib" / "victoria-logs").exists()
