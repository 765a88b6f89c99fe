"""The sample scenario's plan and artefacts, byte for byte.

The role and the image's source are left out: they are copies, and their digests are in the manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from itbc.cli import assembly
from itbc.compiler import compile_scenario
from itbc.compiler.lower import lower
from itbc.compiler.text import as_text
from itbc.dsl.checking import check
from itbc.dsl.diagnostics import Sink

HERE = Path(__file__).parent
SAMPLE = HERE / "sample"
COPIES = ("ansible/project/roles/", "files/images/")


def test_model_and_plan(golden: Callable[[Path, Mapping[str, str]], None]):
    sink = Sink()
    scenario = check(SAMPLE / "scenario.itb", assembly.catalogue(), sink)
    assert scenario is not None, sink.diagnostics
    plan = lower(scenario, assembly.targets()["embedded"], sink)
    assert sink.diagnostics == ()
    golden(HERE / "expected" / "stages", {"model.yml": as_text(scenario), "plan.yml": as_text(plan)})


def test_artefacts(golden: Callable[[Path, Mapping[str, str]], None], tmp_path: Path):
    sink, out = Sink(), tmp_path / "out"
    manifest = compile_scenario(SAMPLE, assembly.targets()["embedded"], assembly.catalogue(), out, sink, tmp_path)
    assert sink.diagnostics == ()
    assert manifest is not None
    written = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert written == {*manifest.files, "manifest.json"}
    shown = sorted(name for name in written if not name.startswith(COPIES))
    golden(HERE / "expected" / "artefacts", {name: (out / name).read_text("utf-8") for name in shown})
