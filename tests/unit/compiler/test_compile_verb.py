"""`itbc compile`: what it prints, what it writes, how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from itbc.cli import main
from itbc.cli.compile import cache_folder
from itbc.cli.exits import Exit


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    # One for all tests of the session: what is in it depends on nothing but what is compiled.
    monkeypatch.setenv("ITBC_CACHE", str(tmp_path_factory.getbasetemp() / "stacks-cache"))


def test_it_writes_the_folder_and_says_so(sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "out"
    assert main(["compile", str(sample), "--target", "embedded", "-o", str(out)]) == Exit.FINE
    said = capsys.readouterr()
    assert said.out.startswith(f"{out}: wrong-address for embedded, ")
    assert "(3 Terraform stacks, plays for 1 fault)" in said.out
    assert said.err == ""
    assert (out / "manifest.json").exists()


def test_mistakes_are_reported_with_their_place_and_nothing_is_written(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = sample / "scenario.itb"
    file.write_text(file.read_text().replace('"PAYMENT_ADDR"', '"PAYMENT_ADR"').replace("nodes = 1", "nodes = 1x"))
    out = tmp_path / "out"
    assert main(["compile", str(file), "-o", str(out)]) == Exit.FAILED
    said = capsys.readouterr()
    assert "scenario.itb:" in said.err
    assert "Traceback" not in said.err
    assert said.out == ""
    assert not out.exists()


def test_what_the_target_lacks_is_a_diagnostic(sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = sample / "scenario.itb"
    file.write_text(file.read_text().replace("nodes = 1", "nodes = 2"))
    assert main(["compile", str(file), "-o", str(tmp_path / "out")]) == Exit.FAILED
    said = capsys.readouterr().err
    assert "ITB903" in said
    assert "target `embedded` has at most 1" in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--target", "moon", "-o", "x"], Exit.USAGE, "known targets: embedded"),
        ([], Exit.USAGE, "say where to write"),
        (["-o", "."], Exit.USAGE, "holds something else than artefacts"),
    ],
)
def test_wrong_usage(
    sample: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: Exit,
    said: str,
):
    monkeypatch.chdir(sample)
    assert main(["compile", "scenario.itb", *arguments]) == code
    assert said in capsys.readouterr().err


def test_nothing_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compile", str(tmp_path / "none.itb"), "-o", str(tmp_path / "out")]) == Exit.FAILED
    assert "ITB001" in capsys.readouterr().err


def test_one_scenario_at_a_time(sample: Path, capsys: pytest.CaptureFixture[str]):
    (sample / "second.itb").write_text((sample / "scenario.itb").read_text())
    assert main(["compile", str(sample), "-o", str(sample / "out")]) == Exit.FAILED
    said = capsys.readouterr().err
    assert "ITB907" in said
    assert "second.itb" in said


@pytest.mark.parametrize(
    ("stage", "part"),
    [
        ("tree", "block scenario 'wrong-address' @"),
        ("model", "kind: k8s.env.modified"),
        ("plan", "healthy:\n  id: healthy\n"),
    ],
)
def test_stages_can_be_looked_at(sample: Path, capsys: pytest.CaptureFixture[str], stage: str, part: str):
    assert main(["compile", str(sample), "--stop-after", stage]) == Exit.FINE
    printed = capsys.readouterr().out
    assert part in printed
    assert str(sample) not in printed


def test_a_broken_file_still_has_a_tree(sample: Path, capsys: pytest.CaptureFixture[str]):
    file = sample / "scenario.itb"
    file.write_text(file.read_text() + "\n}\n")
    assert main(["compile", str(file), "--stop-after", "tree"]) == Exit.FAILED
    said = capsys.readouterr()
    assert "block scenario" in said.out
    assert "ITB1" in said.err


@pytest.mark.parametrize(
    ("environment", "is_root", "folder"),
    [
        ({"ITBC_CACHE": "/x/y"}, False, "/x/y"),
        ({}, True, "/var/cache/itbc"),
        ({"XDG_CACHE_HOME": "/home/me/c"}, False, "/home/me/c/itbc"),
    ],
)
def test_where_the_cache_is(environment: Mapping[str, str], is_root: bool, folder: str):  # noqa: FBT001
    assert cache_folder(environment, is_root=is_root) == Path(folder)
