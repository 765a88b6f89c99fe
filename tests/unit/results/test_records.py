"""Run folders, read and scored again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from run_folder import lay, step
from shop_scene import cause, deployment, evidence, replaced, samples

from itbc.contracts.shape import ContractError, to_json
from itbc.results.records import load, rescore


def test_loads_what_a_run_left(tmp_path: Path) -> None:
    folder = lay(tmp_path / "run", evidence(cause("checkout")), step(2, "healthy"), step(1, "apply"))
    run = load(folder)
    assert [each.name for each in run.steps] == ["apply", "healthy"]
    assert run.record.run == "run-1"
    assert run.score is not None
    assert run.evidence is not None


def test_a_run_that_did_not_get_far_has_neither_evidence_nor_score(tmp_path: Path) -> None:
    run = load(lay(tmp_path / "run", None, step(1, "apply", state="started"), state="failed"))
    assert (run.evidence, run.score) == (None, None)


def test_scores_again_from_the_files_of_a_copy_alone(tmp_path: Path) -> None:
    seen = evidence(cause("payment"), after=replaced(deployment("load", "x")), seen=samples((40, 0.3)))
    folder = lay(tmp_path / "run", seen)
    copied = tmp_path / "elsewhere"
    (copied / "artefacts").mkdir(parents=True)
    for name in ("evidence.json", "artefacts/evaluation.json"):
        shutil.copy(folder / name, copied / name)
    shutil.rmtree(folder / "steps")
    assert to_json(rescore(copied)) == (folder / "score.json").read_bytes()


def test_says_which_file_is_missing_or_wrong(tmp_path: Path) -> None:
    folder = lay(tmp_path / "run", evidence())
    (folder / "evidence.json").write_text('{"version": "itbc.evidence/2"}')
    with pytest.raises(ContractError, match=r"evidence\.json: not a Evidence"):
        rescore(folder)
    (folder / "evidence.json").unlink()
    with pytest.raises(ContractError, match=r"evidence\.json: No such file"):
        rescore(folder)
    with pytest.raises(ContractError, match=r"record\.json"):
        load(tmp_path)
