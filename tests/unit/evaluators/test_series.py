"""Objectives watched in a real Prometheus that scrapes a real, if small, target."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from shop_scene import objective

from itbc.contracts.evaluation import Objective
from itbc.contracts.evidence import Series
from itbc.evaluators.hold import holds
from itbc.evaluators.probes.series import Pace, ProbeError, Watching, instant, skew, watch_objectives

PACE = Pace(step_seconds=0.25, patience_seconds=1.0)


@dataclass
class Target:
    """A thing with metrics; an empty page where it is silent."""

    port: int
    page: str = field(default="")

    def say(self, **values: float) -> None:
        self.page = "".join(f"{name} {value}\n" for name, value in values.items())


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(found.page.encode())

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    found = Target(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,))
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def prometheus(target: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("prometheus")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
        "scrape_configs: [{job_name: t, static_configs: "
        f"[{{targets: ['127.0.0.1:{port}', '127.0.0.1:{target.port}']}}]}}]\n"
    )
    command = ("prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data")
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen((*command, f"--web.listen-address=127.0.0.1:{port}"), stdout=log, stderr=log) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        try:
            deadline = time.monotonic() + 20
            while not _is_ready(client):
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.1)
            yield client
        finally:
            process.terminate()


def _is_ready(client: httpx.Client) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return client.get("/-/ready").status_code == 200 and bool(instant(client, "up == 1"))
    return False


def _seen(client: httpx.Client, query: str) -> None:
    deadline = time.monotonic() + 10
    while not instant(client, query):
        assert time.monotonic() < deadline, query
        time.sleep(0.05)


def _watch(client: httpx.Client, *objectives: Objective, pace: Pace = PACE) -> tuple[list[Series], float]:
    began = time.monotonic()
    series = watch_objectives(objectives, {"shop": client}, time.time(), pace=pace)
    return series, time.monotonic() - began


def _short(**changes: object) -> Objective:
    return objective(**({"hold_seconds": 1.0, "settle_seconds": 1.0} | changes))


def test_a_good_state_is_seen_as_soon_as_it_has_held(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.0)
    _seen(prometheus, "errors == 0")
    wanted = _short(settle_seconds=20.0)
    (series,), took = _watch(prometheus, wanted)
    assert holds(series.samples, series.step_seconds, wanted).held
    assert 1 <= took < 10
    assert [sample.at for sample in series.samples] == [i * 0.25 for i in range(len(series.samples))]


def test_a_bad_state_is_given_up_when_the_settling_time_is_over(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.5)
    _seen(prometheus, "errors == 0.5")
    wanted = _short(hold_seconds=20.0)
    (series,), took = _watch(prometheus, wanted)
    verdict = holds(series.samples, series.step_seconds, wanted)
    assert verdict.decided
    assert not verdict.held
    assert 1 <= took < 10
    assert {sample.value for sample in series.samples} == {0.5}


def test_a_repair_that_comes_late_and_stays_is_seen(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.5)
    _seen(prometheus, "errors == 0.5")
    told: list[float] = []

    def progress(watching: list[Watching]) -> None:
        told.append(watching[0].hold.longest)
        if len(told) == 4:
            target.say(errors=0.0)

    wanted = _short(settle_seconds=10.0)
    series = watch_objectives([wanted], {"shop": prometheus}, time.time(), pace=PACE, progress=progress)
    verdict = holds(series[0].samples, 0.25, wanted)
    assert verdict.held
    assert verdict.began is not None
    assert verdict.began >= 0.5
    assert max(told) > 0.5


def test_a_query_without_an_answer_fails_though_nothing_is_wrong(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.0)
    (series,), _ = _watch(prometheus, _short(query="errors_of_nobody"))
    assert {sample.value for sample in series.samples} == {None}
    assert not holds(series.samples, 0.25, _short()).held


def test_a_watch_ends_when_what_was_seen_is_enough(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.5)
    _seen(prometheus, "errors == 0.5")
    wanted, other = _short(hold_seconds=60.0, settle_seconds=60.0), _short(name="other", settle_seconds=0.0)
    began = time.monotonic()
    series = watch_objectives(
        [wanted, other],
        {"shop": prometheus},
        time.time(),
        pace=PACE,
        enough=lambda holds: any(each.decided and not each.held for each in holds),
    )
    assert time.monotonic() - began < 10
    assert [each.objective for each in series] == [wanted.name, "other"]
    assert not holds(series[0].samples, 0.25, wanted).held


def test_silence_in_the_middle_of_the_hold_breaks_it(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.0)
    _seen(prometheus, "errors == 0")
    told: list[object] = []

    def progress(watching: list[Watching]) -> None:
        told.append(watching)
        if len(told) == 3:
            target.page = ""

    wanted = _short(hold_seconds=2.0, settle_seconds=0.5)
    series = watch_objectives([wanted], {"shop": prometheus}, time.time(), pace=PACE, progress=progress)
    verdict = holds(series[0].samples, 0.25, wanted)
    assert not verdict.held
    assert "no value" in verdict.reason


def test_nan_counts_as_silence(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.0)
    _seen(prometheus, "errors == 0")
    (series,), _ = _watch(prometheus, _short(query="errors / errors"))
    assert {sample.value for sample in series.samples} == {None}


@pytest.mark.parametrize(("comparison", "worst"), [("<", 0.7), (">", 0.2)])
def test_of_several_series_the_worst_counts(
    prometheus: httpx.Client, target: Target, comparison: str, worst: float
) -> None:
    target.say(**{'errors{a="1"}': 0.2, 'errors{a="2"}': 0.7})
    _seen(prometheus, "errors == 0.7")
    wanted = _short(query="errors", comparison=comparison, hold_seconds=0.5, settle_seconds=0.0)
    (series,), _ = _watch(prometheus, wanted)
    assert series.samples[0].value == worst


def test_each_objective_is_watched_until_it_is_decided_itself(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.0)
    _seen(prometheus, "errors == 0")
    quick, slow = _short(name="quick", hold_seconds=0.5), _short(name="slow", hold_seconds=1.5)
    (first, second), _ = _watch(prometheus, quick, slow)
    assert (first.objective, second.objective) == ("quick", "slow")
    assert len(first.samples) < len(second.samples)


def test_a_query_prometheus_refuses_is_no_verdict(prometheus: httpx.Client) -> None:
    with pytest.raises(ProbeError, match=r"objective orders-succeed: Prometheus of cluster shop refuses the query"):
        _watch(prometheus, _short(query="errors{"))


def test_a_prometheus_that_is_away_is_no_verdict() -> None:
    with (
        httpx.Client(base_url="http://127.0.0.1:1", trust_env=False) as nobody,
        pytest.raises(ProbeError, match=r"Prometheus of cluster shop doesn't answer for 1 s"),
    ):
        _watch(nobody, _short())


def test_another_clock_is_allowed_for(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.0)
    _seen(prometheus, "errors == 0")
    behind = Pace(step_seconds=0.25, now=lambda: time.time() - 3600)
    ended = behind.now()
    (series,) = watch_objectives([_short()], {"shop": prometheus}, ended, pace=behind)
    assert holds(series.samples, 0.25, _short()).held


def test_what_the_pause_raises_stops_the_watch(prometheus: httpx.Client, target: Target) -> None:
    target.say(errors=0.5)

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _watch(prometheus, _short(), pace=Pace(step_seconds=0.25, pause=stop))


@pytest.mark.parametrize("ahead", [100.0, -100.0])
def test_how_far_a_clock_is_ahead(prometheus: httpx.Client, ahead: float) -> None:
    pace = Pace(step_seconds=0.25, patience_seconds=1.0, now=lambda: time.time() - ahead)
    assert abs(skew(prometheus, "shop", pace) - ahead) < 0.5


@pytest.mark.parametrize("when", ["request", "response"])
def test_a_slow_answer_is_not_taken_for_another_clock(prometheus: httpx.Client, when: str) -> None:
    slow = {when: [lambda _: time.sleep(1.5)]}
    with httpx.Client(base_url=prometheus.base_url, trust_env=False, event_hooks=slow) as client:
        assert skew(client, "shop", PACE) == 0.0
