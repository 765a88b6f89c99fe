"""Wrong files and exactly what is said about them: every folder here is a case, with its `expected.txt`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from itbc.cli import main

HERE = Path(__file__).parent
CASES = sorted(folder.name for folder in HERE.iterdir() if any(folder.glob("*.itb")))


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_file_gets_exactly_these_messages(
    case: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(HERE / case)
    code = main(["check", "."])
    captured = capsys.readouterr()
    assert captured.err == ""
    assert code == 1
    golden(HERE / case / "expected.txt", captured.out)
    for message in captured.out.split("\n\n")[:-1]:
        assert "= help: " in message, f"no remedy: {message}"
