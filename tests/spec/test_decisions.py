from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import examples
import pytest

from itbc.cli import main
from itbc.dsl.diagnostics import Sink
from itbc.dsl.format import format_file
from itbc.dsl.parsing import parse
from itbc.dsl.render.text import render
from itbc.dsl.source import SourceFile
from itbc.dsl.structure import structure

DECISION = examples.DOCS / "decisions" / "0001-five-scenarios.md"
SCENARIOS = [
    example for example in examples.examples(DECISION.read_text(encoding="utf-8")) if example.language == "itb"
]


def test_there_are_five_scenarios_for_three_personas():
    personas = [
        word
        for example in SCENARIOS
        for word in ("sre", "ciso", "finops")
        if f"persona = {word}\n" in example.text.replace("     =", " =")
    ]
    assert personas == ["sre", "sre", "sre", "ciso", "finops"]


@pytest.mark.parametrize("example", SCENARIOS, ids=lambda example: f"line{example.line}")
def test_a_scenario_is_read_checked_in_its_structure_and_already_laid_out(
    example: examples.Example, terraform_environment: dict[str, str]
):
    sink = Sink()
    file = parse(SourceFile("scenario.itb", example.text), sink)
    entry = structure(file, sink)
    assert render(sink.diagnostics) == ""
    assert format_file(file) == example.text
    assert [child.schema.type for child in entry.children("scenario")] == ["scenario"]
    done = subprocess.run(
        ["terraform", "fmt", "-"],
        input=example.text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **terraform_environment},
    )
    assert (done.stdout, done.stderr) == (example.text, "")


@pytest.mark.parametrize("example", SCENARIOS[1:], ids=lambda example: f"line{example.line}")
def test_what_cannot_be_checked_yet_is_refused_by_name(
    example: examples.Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenario.itb").write_text(example.text, encoding="utf-8")
    assert main(["check", "scenario.itb", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    places = {label["place"]["start"]["line"] for one in found if one["code"] == "ITB801" for label in one["labels"]}
    lines = example.text.splitlines()
    blocks = ("host ", "dependency ", "control ", "corpus ", "deliverable ", "finding ", "price_sheet ")
    expected = {
        i
        for i, line in enumerate(lines, 1)
        if line.strip().startswith(blocks) and line.endswith("{") and not line.startswith("    bind")
    }
    assert expected
    assert expected <= places
