"""The text of each stage. Every `.itb` file here has a `.tree` beside it, and a `.model` where it holds a scenario."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from itbc.cli import assembly
from itbc.dsl.checking import check
from itbc.dsl.diagnostics import Sink
from itbc.dsl.dump import dump_model, dump_tree
from itbc.dsl.parsing import parse
from itbc.dsl.render.text import render
from itbc.dsl.source import SourceFile

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.itb"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_tree_of_a_file(path: Path, golden: Callable[[Path, str], None]):
    source = SourceFile(path.name, path.read_text(encoding="utf-8"))
    golden(path.with_suffix(".tree"), dump_tree(parse(source, Sink())))


def test_the_model_of_a_scenario(golden: Callable[[Path, str], None]):
    sink = Sink()
    scenario = check(HERE / "scenario.itb", assembly.catalogue(), sink)
    assert render(sink.diagnostics) == ""
    assert scenario is not None
    golden(HERE / "scenario.model", dump_model(scenario, HERE))


def test_the_model_does_not_depend_on_where_the_files_lie(tmp_path: Path):
    shutil.copytree(HERE.parent.parent / "spec" / "shop", tmp_path / "spec" / "shop")
    (tmp_path / "a" / "b").mkdir(parents=True)
    target = tmp_path / "a" / "b" / "scenario.itb"
    shutil.copy(HERE / "scenario.itb", target)
    scenario = check(target, assembly.catalogue(), Sink())
    assert scenario is not None
    assert dump_model(scenario, target.parent) == (HERE / "scenario.model").read_text(encoding="utf-8")
