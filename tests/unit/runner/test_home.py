from __future__ import annotations

import errno
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from itbc.runner.failures import StepFailed
from itbc.runner.home import Home, new_run_name
from itbc.runner.session import checked_name

NOW = datetime(2026, 12, 1, 10, 15, 0, tzinfo=UTC)


def test_nobody_else_looks_into_runs_and_ledgers(tmp_path: Path) -> None:
    home = Home.from_environment({"ITBC_HOME": str(tmp_path / "home"), "ITBC_CACHE": str(tmp_path / "cache")})
    assert home.runs.stat().st_mode & 0o777 == 0o700
    assert home.ledgers.stat().st_mode & 0o777 == 0o700
    assert home.workspaces.stat().st_mode & 0o777 == 0o711
    run = home.run("20261201-101500-ab12")
    run.create()
    assert run.path.stat().st_mode & 0o777 == 0o700
    with pytest.raises(FileExistsError):
        run.create()


def test_a_path_too_long_for_sockets_is_refused() -> None:
    with pytest.raises(StepFailed, match="too long") as caught:
        Home.from_environment({"ITBC_HOME": "/" + "x" * 100})
    assert "at most" in caught.value.remedy


def test_a_folder_that_cant_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StepFailed, match="can't make"):
        Home.from_environment({"ITBC_HOME": str(tmp_path / "file" / "home"), "ITBC_CACHE": str(tmp_path)})


def test_another_users_home_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path, _mode: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", refused)
    with pytest.raises(StepFailed, match="is another user's") as caught:
        Home.from_environment({"ITBC_HOME": str(tmp_path), "ITBC_CACHE": str(tmp_path)})
    assert "run as root, or set ITBC_HOME" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_names_follow_the_clock_and_the_seed() -> None:
    first, again, other = (new_run_name(NOW, random.Random(seed)) for seed in (1, 1, 2))  # noqa: S311
    assert first == again
    assert first != other
    assert first.startswith("20261201-101500-")
    assert checked_name(first) == first


@pytest.mark.parametrize("name", ["../x", "", "20261201-101500-ab12/..", "20261201-101500-AB12"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(StepFailed, match="no run's name"):
        checked_name(name)
