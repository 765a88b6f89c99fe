"""A run whose home has no room left, on a real file system that is full."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from itbc.contracts.record import Record
from itbc.contracts.shape import Unwritten, read, write
from itbc.runner import session
from itbc.runner.failures import StepFailed, storage_failure
from itbc.runner.home import Home
from itbc.runner.leftovers.reaper import reap
from itbc.runner.life import Assignment
from itbc.runner.session import Workshop

from .conftest import toy_artefacts

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a file system of its own needs root")


@pytest.fixture
def small(short: Path) -> Generator[Path]:
    """A folder with a file system of its own."""
    folder = short / "s"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=0711", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--recursive", folder], check=True)


def fill(folder: Path) -> None:
    """Leave no byte, and no place for another file."""
    used = shutil.disk_usage(folder).used
    subprocess.run(["mount", "-o", f"remount,size={used}", folder], check=True)
    assert shutil.disk_usage(folder).free == 0


def widen(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)


def test_nothing_is_scored_all_is_removed_and_the_record_follows(
    workshop: Workshop, short: Path, small: Path, tmp_path: Path
) -> None:
    things = short / "things"
    things.mkdir()
    shop = replace(
        workshop, home=Home.from_environment({"ITBC_HOME": str(small / "i"), "ITBC_CACHE": str(short / "c")})
    )
    with session.new_run(shop, toy_artefacts(tmp_path / "a", things), "noop", seed=0) as life:
        life.bring_up()
        life.break_down()
        life.work(Assignment(agent="noop", command=[], seconds=5.0))
        fill(small)
        with pytest.raises(StepFailed, match="can't be written: No space left on device") as wrong:
            life.judge()
        assert wrong.value.fault == "environment"
        life.failed(wrong.value)
        assert not life.around.run.score.exists()
        assert not life.around.run.evidence.exists()
        # Whatever can't be written down is removed all the same.
        life.take_down()
        assert not (things / "toy").exists()
        over = life.over()
        assert over.failure is not None
        with pytest.raises(StepFailed, match=r"the summary of run .* can't be written"):
            life.journal.saved()
        session.close(life)
    assert shop.home.ledger(over.run).exists()
    widen(small)
    # The owner of the run still lives here, as far as the ledger knows; its time is over all the same.
    later = replace(shop, now=lambda: shop.now() + 2 * session.LIFETIME)
    (taken,) = reap(later)
    assert (taken.run, taken.remaining) == (over.run, ())
    record = read(life.around.run.record, Record)
    assert (record.state, record.destroyed, record.score) == ("failed", True, None)
    assert list(shop.home.ledgers.iterdir()) == []


def test_the_reason_is_written_as_soon_as_there_is_room(workshop: Workshop, short: Path, small: Path) -> None:
    shop = replace(
        workshop, home=Home.from_environment({"ITBC_HOME": str(small / "i"), "ITBC_CACHE": str(short / "c")})
    )
    with session.new_run(shop, toy_artefacts(short / "a", short), "noop", seed=0) as life:
        fill(small)
        life.failed(StepFailed("environment", "the first reason"))
        life.failed(StepFailed("environment", "a later one"))
        assert read(life.around.run.record, Record).failure is None
        widen(small)
        life.over()
        life.journal.saved()
    record = read(life.around.run.record, Record)
    assert record.failure is not None
    assert (record.failure.message, record.state) == ("the first reason", "failed")


def test_what_can_not_be_written_leaves_what_was_there(small: Path, short: Path, workshop: Workshop) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", short), "noop", seed=0) as life:
        record = life.journal.record()
    path = small / "record.json"
    write(path, record)
    fill(small)
    with pytest.raises(Unwritten, match=r"record\.json can't be written: No space left on device"):
        write(path, replace_title(record))
    assert read(path, Record) == record
    assert [each.name for each in small.iterdir()] == ["record.json"]


def replace_title(record: Record) -> Record:
    return Record(**{name: getattr(record, name) for name in record.__struct_fields__} | {"title": "x" * 65536})


def test_other_errors_are_no_matter_of_storage() -> None:
    assert storage_failure(FileNotFoundError(2, "No such file")) is None
    assert storage_failure(ValueError()) is None
