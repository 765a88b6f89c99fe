"""Every valid file is HCL, and its layout is that of `terraform fmt`: asked of three other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import examples
import oracles
import pytest
import texts
from hypothesis import HealthCheck, assume, given, settings

from itbc.dsl.diagnostics import Sink
from itbc.dsl.format import format_file, format_text
from itbc.dsl.parsing import parse
from itbc.dsl.source import SourceFile

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "docs" / "spec.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))]
FILES = sorted([*(ROOT / "scenarios").rglob("*.itb"), *(ROOT / "tests" / "spec").rglob("*.itb")])
LAYOUTS = sorted(Path(__file__).parent.glob("*.itb"))


def right_texts() -> list[str]:
    found = [path.read_text(encoding="utf-8") for path in FILES]
    for page in PAGES:
        for example in examples.examples(page.read_text(encoding="utf-8")):
            if example.language == "itb":
                sink = Sink()
                parse(SourceFile("x.itb", example.text), sink)
                found += [] if sink.errors else [example.text]
    return found


@pytest.mark.parametrize("text", right_texts())
def test_other_readers_of_hcl_accept_what_is_right(text: str, terraform_environment: dict[str, str]):
    assert oracles.tree_sitter_accepts(text)
    assert oracles.python_hcl2_refusal(text) == ""
    oracles.terraform_layout(text, terraform_environment)


@pytest.mark.parametrize("text", right_texts())
def test_terraform_has_nothing_to_add_to_a_layout(text: str, terraform_environment: dict[str, str]):
    ours = format_text(text)
    assert oracles.terraform_layout(ours, terraform_environment) == ours


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(text=texts.TEXT)
def test_terraform_reads_and_lays_out_random_files_alike(text: str, terraform_environment: dict[str, str]):
    ours = format_text(text)
    assert oracles.terraform_layout(ours, terraform_environment) == ours


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(text=texts.TEXT)
def test_tree_sitter_accepts_random_files(text: str):
    assert oracles.tree_sitter_accepts(text)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(text=texts.TEXT)
def test_python_hcl2_accepts_random_files(text: str):
    refusal = oracles.python_hcl2_refusal(text)
    # It makes dictionaries, where an attribute and a block of one name have no room; that isn't a matter of syntax.
    assume("is already defined" not in refusal)
    assert refusal == ""


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.stem)
def test_a_layout(path: Path, golden: Callable[[Path, str], None], terraform_environment: dict[str, str]):
    source = path.read_text(encoding="utf-8")
    sink = Sink()
    file = parse(SourceFile(path.name, source), sink)
    assert not sink.diagnostics
    laid_out = format_file(file)
    golden(path.with_suffix(".expected"), laid_out)
    assert format_text(laid_out) == laid_out
    assert oracles.terraform_layout(laid_out, terraform_environment) == laid_out


def test_a_file_with_syntax_errors_has_no_layout():
    file = parse(SourceFile("x.itb", "a = \n"), Sink())
    with pytest.raises(ValueError, match="syntax errors"):
        format_file(file)


def test_line_ends_of_other_systems_become_newlines():
    assert format_text('a = 1\r\n\r\n\r\nb = "x"\r\n') == 'a = 1\n\nb = "x"\n'
