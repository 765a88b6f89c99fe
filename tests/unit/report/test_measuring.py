"""The objectives' courses, recorded from a real Prometheus."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import msgspec
import pytest
from shop_scene import evaluation, objective

from itbc.contracts.metrics import Metrics
from itbc.contracts.schemas import checked
from itbc.contracts.shape import read, write
from itbc.evaluators.probes.courses import MOST_VALUES, step_for
from itbc.runner.home import RunFolder
from itbc.runner.steps.access import Access
from itbc.runner.steps.measuring import MeasuringInput, measuring
from itbc.runner.surroundings import Surroundings
from itbc.runner.waiting import Patience


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("prometheus")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
        f"scrape_configs: [{{job_name: t, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n"
    )
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            Patience().until(lambda: _answers(port), 20)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _answers(port: int) -> bool | None:
    try:
        answer = httpx.get(f"http://127.0.0.1:{port}/api/v1/query", params={"query": "up == 1"}, trust_env=False)
    except httpx.HTTPError:
        return None
    # While it starts, it says "Service Unavailable" in plain words.
    return True if answer.status_code == 200 and answer.json()["data"]["result"] else None


def measured(folder: Path, url: str, *, seconds_ago: float, **queries: str) -> Metrics:
    run = RunFolder("run-1", folder, folder / "agent")
    run.artefacts.mkdir()
    objectives = [objective(name=name, query=query) for name, query in queries.items()]
    spec = evaluation()
    write(run.artefacts / "evaluation.json", msgspec.structs.replace(spec, objectives=objectives))
    around = SimpleNamespace(
        run=run,
        patience=Patience(),
        now=lambda: datetime.now(UTC),
        environment=SimpleNamespace(scenario=spec.scenario),
    )
    access = Access(cluster="shop", kubeconfig="", prometheus=url, alertmanager="", namespaces=[])
    begin = datetime.fromtimestamp(time.time() - seconds_ago, UTC).isoformat(timespec="milliseconds")
    output = measuring(MeasuringInput(accesses=[access], begin=begin), cast("Surroundings", around))
    found = read(run.metrics, Metrics)
    assert (output.courses, output.problems) == (len(found.courses), found.problems)
    assert found.begin == begin
    checked("metrics", found)
    return found


def test_the_whole_stretch_is_recorded_with_gaps_where_there_was_nothing(tmp_path: Path, prometheus: str) -> None:
    found = measured(tmp_path, prometheus, seconds_ago=600, alive="up", silent="nothing_of_the_kind")
    assert found.step_seconds == 1.0
    alive, silent = found.courses
    assert (alive.objective, silent.objective) == ("alive", "silent")
    assert len(alive.values) in {600, 601, 602}
    assert alive.values[0] is None
    assert alive.values[-1] == 1.0
    assert set(silent.values) == {None}


def test_a_wrong_query_is_a_problem_and_the_others_are_recorded(tmp_path: Path, prometheus: str) -> None:
    found = measured(tmp_path, prometheus, seconds_ago=5, broken="sum(", alive="up")
    assert [each.objective for each in found.courses] == ["alive"]
    (problem,) = found.problems
    assert "objective broken" in problem
    assert "parse error" in problem


def test_a_dead_prometheus_costs_no_time_and_no_run(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    began = time.monotonic()
    found = measured(tmp_path, nobody, seconds_ago=600, one="up", other="up")
    assert time.monotonic() - began < 2
    assert found.courses == []
    assert len(found.problems) == 1
    assert "doesn't answer" in found.problems[0]


@pytest.mark.parametrize(("seconds", "step"), [(0, 1), (999, 1), (1000, 2), (3600, 4), (-5, 1)])
def test_long_stretches_have_longer_steps(seconds: float, step: float) -> None:
    assert step_for(seconds) == step
    assert seconds / step < MOST_VALUES
