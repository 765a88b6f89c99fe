from __future__ import annotations

import dataclasses
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from itbc.providers.embedded import process


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(("sleep", "60")) as running:
        yield running
        running.kill()


def test_a_process_is_known_again(sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    found = process.identify(sleeper.pid)
    assert found is not None
    process.save(tmp_path / "p.json", found)
    assert process.load(tmp_path / "p.json") == found
    assert process.alive(found)
    assert sleeper.pid in process.children(os.getpid())


@pytest.mark.parametrize("change", [{"started": 1}, {"boot": "another"}])
def test_another_process_of_that_number_is_left_alone(
    sleeper: subprocess.Popen[bytes], change: dict[str, object]
) -> None:
    found = process.identify(sleeper.pid)
    assert found is not None
    other = dataclasses.replace(found, **change)
    assert not process.alive(other)
    assert not process.kill(other)
    assert sleeper.poll() is None


def test_a_killed_process_is_dead_before_anybody_takes_note(sleeper: subprocess.Popen[bytes]) -> None:
    found = process.identify(sleeper.pid)
    assert found is not None
    assert process.kill(found)
    deadline = time.monotonic() + 10
    while process.alive(found):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not process.kill(found)
    assert Path(f"/proc/{sleeper.pid}").exists(), "this test is about a zombie"


def test_nobody_is_nobody(tmp_path: Path) -> None:
    assert process.identify(2**22 + 1) is None
    assert process.children(2**22 + 1) == []
    assert process.load(tmp_path / "none.json") is None
    (tmp_path / "half.json").write_text('{"pid": 1')
    assert process.load(tmp_path / "half.json") is None


def test_a_folder_that_was_swept_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        process.save(tmp_path / "gone" / "host.json", process.ProcessId(1, 1, "x"))
    assert not (tmp_path / "gone").exists()


def test_a_number_that_is_a_threads_by_now_is_left_alone() -> None:
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        assert not process.kill(process.ProcessId(thread.native_id, 1, process.boot_id()))
        assert thread.is_alive()
    finally:
        ended.set()
        thread.join()
