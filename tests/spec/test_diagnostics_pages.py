from __future__ import annotations

import re
from pathlib import Path

import examples
import pytest

from itbc.cli import main
from itbc.dsl.codes import CODES

PAGES = examples.DOCS / "diagnostics"


def page(code: str) -> str:
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"there is no section {title}"
    return found[1]


def test_every_code_of_the_language_has_a_page_and_no_page_lacks_a_code():
    pages = {path.stem for path in PAGES.glob("ITB*.md")}
    assert {name for name in pages if not name.startswith("ITB9")} == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_page_says_what_the_table_says(code: str):
    known = CODES[code]
    assert page(code).startswith(f"# {code} {known.slug}\n\n**{known.severity}: {known.headline}**\n")


def run(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)

    def program(arguments: list[str]) -> tuple[int, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return examples.run(tmp_path, examples.examples(part), program)


@pytest.mark.parametrize("code", CODES)
def test_the_example_raises_exactly_its_code(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    text = section(page(code), "Example")
    also = set(re.findall(r"ITB\d+", text.split("```", 1)[0]))
    exit_code, found = run(text, tmp_path, monkeypatch, capsys)
    assert found == {code} | also
    assert exit_code == (1 if CODES[code].severity == "error" or also else 0)


@pytest.mark.parametrize("code", CODES)
def test_the_fix_raises_its_code_no_more(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    text = page(code)
    also = set(re.findall(r"ITB\d+", section(text, "Example").split("```", 1)[0])) - {"ITB101"}
    _, found = run(section(text, "Fix"), tmp_path, monkeypatch, capsys)
    assert found == also
