from __future__ import annotations

import re
from pathlib import Path

import examples
import pytest

from itbc.cli import main
from itbc.dsl.format import format_text
from itbc.dsl.schema.reference import BEGIN, END, reference

PAGE = examples.DOCS / "spec.md"
EXAMPLES = [example for example in examples.examples(PAGE.read_text(encoding="utf-8")) if example.language == "itb"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line{example.line}")
def test_an_example_of_the_language_reference_is_what_it_is_marked_as(
    example: examples.Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    codes = {word for word in example.words if re.fullmatch(r"ITB\d{3}", word)}
    assert ("valid" in example.words) != bool(codes), "an example is either valid or has codes"
    monkeypatch.chdir(tmp_path)
    calls = examples.lay_out(tmp_path, [example])
    exit_code = max(main(call) for call in calls)
    captured = capsys.readouterr()
    assert set(examples.codes_of(captured.out)) == codes, captured.out
    assert exit_code == (1 if codes else 0)


def test_valid_examples_are_laid_out():
    for example in EXAMPLES:
        if "valid" in example.words:
            assert format_text(example.text) == example.text


def test_the_reference_is_what_the_schema_says(request: pytest.FixtureRequest):
    text = PAGE.read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text.split(BEGIN)[0].rstrip() + "\n\n" + reference() + "\n", encoding="utf-8")
        text = PAGE.read_text(encoding="utf-8")
    assert BEGIN + text.partition(BEGIN)[2].rstrip() == reference(), "run pytest tests/spec --update-golden"
    assert text.rstrip().endswith(END)
