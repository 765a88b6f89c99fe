"""How long a real Prometheus was silent."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from itbc.evaluators.probes.series import Pace, ProbeError, ProbeSilentError, instant
from itbc.evaluators.probes.silence import longest_silence

PACE = Pace(step_seconds=0.25, patience_seconds=1.0)


@pytest.fixture
def scraping(tmp_path: Path) -> Iterator[tuple[httpx.Client, subprocess.Popen[bytes]]]:
    """A Prometheus that scrapes itself, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "prometheus.yml").write_text(
        "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
        f"scrape_configs: [{{job_name: t, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n"
    )
    command = ("prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data")
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen((*command, f"--web.listen-address=127.0.0.1:{port}"), stdout=log, stderr=log) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=5.0) as client,
    ):
        try:
            deadline = time.monotonic() + 30
            while not _scrapes(client):
                assert time.monotonic() < deadline, (tmp_path / "log").read_text()
                time.sleep(0.1)
            yield client, process
        finally:
            process.kill()


def _scrapes(client: httpx.Client) -> bool:
    with contextlib.suppress(httpx.TransportError, httpx.HTTPStatusError):
        return bool(instant(client, "up == 1"))
    return False


def test_what_was_not_scraped_is_a_silence(scraping: tuple[httpx.Client, subprocess.Popen[bytes]]) -> None:
    client, process = scraping
    begin = time.time()
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(3.0)
    os.kill(process.pid, signal.SIGCONT)
    deadline = time.monotonic() + 30
    while not instant(client, "time() - timestamp(up) < 1"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    silence = longest_silence(client, "shop", begin, PACE)
    assert 2.5 < silence < time.time() - begin + 1.0


def test_a_prometheus_that_was_not_there_was_silent(scraping: tuple[httpx.Client, subprocess.Popen[bytes]]) -> None:
    client, _ = scraping
    assert longest_silence(client, "shop", time.time() - 3600, PACE) == math.inf


def test_many_hours_are_asked_for_in_longer_steps(scraping: tuple[httpx.Client, subprocess.Popen[bytes]]) -> None:
    client, _ = scraping
    assert longest_silence(client, "shop", time.time() - 12 * 3600, PACE) == math.inf


def test_a_prometheus_that_does_not_answer_is_an_error(
    scraping: tuple[httpx.Client, subprocess.Popen[bytes]],
) -> None:
    client, process = scraping
    process.kill()
    process.wait()
    with pytest.raises(ProbeSilentError, match="Prometheus of cluster shop doesn't answer for 1 s") as wrong:
        longest_silence(client, "shop", time.time(), PACE)
    assert isinstance(wrong.value, ProbeError)
