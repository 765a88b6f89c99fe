"""The sample scenario's plan and artefacts, byte for byte.

The role and the image's source are left out: they are copies, and their digests are in the manifest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from itbc.cli import assembly
from itbc.compiler import compile_scenario
from itbc.compiler.lower import lower
from itbc.compiler.text import plan_text
from itbc.dsl.checking import check
from itbc.dsl.diagnostics import Sink

HERE = Path(__file__).parent
SAMPLE = HERE / "sample"
EXPECTED = HERE / "expected"
COPIES = ("ansible/project/roles/", "files/images/")


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_plan(golden: Callable[[Path, str], None]):
    sink = Sink()
    scenario = check(SAMPLE / "scenario.itb", assembly.catalogue(), sink)
    assert scenario is not None, sink.diagnostics
    plan = lower(scenario, assembly.targets()["embedded"], sink)
    assert plan is not None, sink.diagnostics
    golden(EXPECTED / "plan.yml", plan_text(plan))


def test_artefacts(golden: Callable[[Path, str], None], tmp_path: Path):
    sink, out = Sink(), tmp_path / "out"
    manifest = compile_scenario(SAMPLE, assembly.targets()["embedded"], assembly.catalogue(), out, sink, tmp_path)
    assert sink.diagnostics == ()
    assert manifest is not None
    assert files(out) == {*manifest.files, "manifest.json"}
    shown = {name for name in files(out) if not name.startswith(COPIES)}
    for name in sorted(shown):
        golden(EXPECTED / "artefacts" / name, (out / name).read_text("utf-8"))
    assert files(EXPECTED / "artefacts") == shown
