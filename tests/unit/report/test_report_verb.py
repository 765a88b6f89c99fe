from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from itbc.cli import main
from itbc.cli.exits import Exit
from itbc.results.report import render_page


def test_the_page_goes_into_the_runs_folder_and_only_its_owner_reads_it(
    full: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = full / "report.html"
    path.write_text("old")
    path.chmod(0o644)
    assert main(["report", str(full)]) == Exit.FINE
    assert path.read_text("utf-8") == render_page(full)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert capsys.readouterr().out == f"report: {path}\n"
    assert [each.name for each in full.iterdir() if each.name.startswith(".")] == []


def test_a_link_in_its_place_is_replaced_and_not_followed(full: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    out = tmp_path / "page.html"
    out.symlink_to(victim)
    assert main(["report", str(full), "-o", str(out)]) == Exit.FINE
    assert victim.read_text() == "mine"
    assert not out.is_symlink()


def test_a_run_is_found_by_its_name(full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / "runs").mkdir(parents=True)
    full.rename(home / "runs" / "20300101-000000-ab12")
    monkeypatch.setenv("ITBC_HOME", str(home))
    monkeypatch.setenv("ITBC_CACHE", str(tmp_path / "cache"))
    assert main(["report", "20300101-000000-ab12", "-o", str(tmp_path / "page.html")]) == Exit.FINE
    assert (tmp_path / "page.html").is_file()


@pytest.mark.parametrize(
    ("run", "code", "said"),
    [("nonsense", Exit.FAILED, "is no run's name"), ("20300101-000000-zzzz", Exit.FAILED, "record.json")],
)
def test_a_run_that_is_not_there(
    run: str,
    code: Exit,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ITBC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ITBC_CACHE", str(tmp_path / "cache"))
    assert main(["report", run]) == code
    assert said in capsys.readouterr().err


def test_a_place_that_cannot_be_written(full: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(full), "-o", str(full / "no" / "page.html")]) == Exit.USAGE
    assert "No such file" in capsys.readouterr().err


def test_what_is_no_file_is_left_as_it_is(full: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A pipe stands for a device, which a test had better not risk.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert main(["report", str(full), "-o", str(pipe)]) == Exit.USAGE
    assert pipe.is_fifo()
    assert f"can't write {pipe}: it is there and is no regular file" in capsys.readouterr().err
    assert list(tmp_path.glob(".pipe*")) == []
