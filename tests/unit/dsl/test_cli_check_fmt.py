from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import examples
import pytest

from itbc.cli import main


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(examples.SPEC / "shop", tmp_path / "shop")
    shutil.copy(examples.SPEC / "base.itb", tmp_path / "scenario.itb")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
def test_check_says_what_was_checked(capsys: pytest.CaptureFixture[str]):
    assert main(["check", "."]) == 0
    out = capsys.readouterr().out.splitlines()
    scenario = (
        "ok  scenario.itb: scenario checkout-wrong-payment-address: 1 cluster, 9 objects, 2 alerting rules, 1 fault, "
        "1 expected alert, 1 objective, 1 safeguard, 1 root cause, chain checkout → frontend"
    )
    assert out == [scenario, "ok  shop/shop.itb: library: 1 application, 2 alerts, 1 SLO"]


def test_check_with_errors_fails_and_still_names_what_is_right(place: Path, capsys: pytest.CaptureFixture[str]):
    (place / "wrong.itb").write_text("a = \n", encoding="utf-8")
    assert main(["check", "shop", "wrong.itb"]) == 1
    out = capsys.readouterr().out
    assert "error[ITB101]" in out
    assert "ok  shop/shop.itb" in out
    assert "ok  wrong.itb" not in out


def test_check_as_json(place: Path, capsys: pytest.CaptureFixture[str]):
    (place / "wrong.itb").write_text("a = \n", encoding="utf-8")
    assert main(["check", "--format", "json", "."]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["version"] == "itbc.diagnostics/1"
    assert [(found["code"], found["labels"][0]["place"]["file"]) for found in report["diagnostics"]] == [
        ("ITB202", "wrong.itb"),
        ("ITB101", "wrong.itb"),
    ]
    assert len(report["checked"]) == 2


def test_check_without_paths_is_wrong_usage():
    assert main(["check"]) == 2


@pytest.mark.parametrize("verb", ["check", "fmt"])
def test_help_has_an_example(verb: str, capsys: pytest.CaptureFixture[str]):
    assert main([verb, "--help"]) == 0
    assert f"Example: itbc {verb} " in capsys.readouterr().out


def test_fmt_rewrites_what_has_to_change_and_names_it(place: Path, capsys: pytest.CaptureFixture[str]):
    file = place / "scenario.itb"
    right = file.read_text(encoding="utf-8")
    file.write_text(
        right.replace("  metadata {", "metadata   {").replace("persona = sre", "persona=sre"), encoding="utf-8"
    )
    file.chmod(0o640)
    assert main(["fmt", "--check", "."]) == 1
    assert capsys.readouterr().out == "would change  scenario.itb\n"
    assert file.read_text(encoding="utf-8") != right
    assert main(["fmt", "."]) == 0
    assert capsys.readouterr().out == "changed  scenario.itb\n"
    assert file.read_text(encoding="utf-8") == right
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert main(["fmt", "--check", "."]) == 0
    assert [path.name for path in place.iterdir() if path.name.endswith(".part")] == []


def test_fmt_leaves_files_with_syntax_errors_alone(place: Path, capsys: pytest.CaptureFixture[str]):
    wrong = place / "wrong.itb"
    wrong.write_text("a   =  1\nb = \n", encoding="utf-8")
    assert main(["fmt", "wrong.itb"]) == 1
    assert wrong.read_text(encoding="utf-8") == "a   =  1\nb = \n"
    assert "ITB101" in capsys.readouterr().err


def test_fmt_does_not_care_about_meaning(place: Path):
    odd = place / "odd.itb"
    odd.write_text("nothing   {\n  known =  1\n}\n", encoding="utf-8")
    assert main(["fmt", "odd.itb"]) == 0
    assert odd.read_text(encoding="utf-8") == "nothing {\n  known = 1\n}\n"


def test_fmt_writes_through_a_link(place: Path):
    (place / "real.itb").write_text("a  = 1\n", encoding="utf-8")
    (place / "link.itb").symlink_to(place / "real.itb")
    assert main(["fmt", "link.itb"]) == 0
    assert (place / "link.itb").is_symlink()
    assert (place / "real.itb").read_text(encoding="utf-8") == "a = 1\n"


@pytest.mark.parametrize("argument", ["nowhere", "bad\udcff.itb", "a" * 5000, "shop/shop.itb/x.itb"])
@pytest.mark.usefixtures("place")
def test_odd_paths_are_diagnosed(argument: str, capsys: pytest.CaptureFixture[str]):
    assert main(["check", argument]) == 1
    assert "error[ITB001]" in capsys.readouterr().out


def test_check_does_not_import_what_only_runs_need():
    heavy = "('kubernetes', 'cdktn', 'ansible', 'jsii')"
    program = f"import sys, itbc.cli.check, itbc.cli.fmt; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
