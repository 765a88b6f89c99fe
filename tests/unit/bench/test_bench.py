from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import life
from bench.__main__ import table


@pytest.fixture
def run(tmp_path: Path) -> Path:
    seconds = {
        "provision": 10.0,
        "baseline": 9.0,
        "inject": 5.0,
        "alerting": 8.0,
        "agent": 1.5,
        "evaluate": 45.0,
        "destroy": 9.0,
    }
    (tmp_path / "steps").mkdir()
    for number, (name, value) in enumerate(seconds.items(), 1):
        (tmp_path / "steps" / f"{number:02}-{name}.json").write_text(json.dumps({"name": name, "seconds": value}))
    (tmp_path / "evidence.json").write_text(json.dumps({"alerts": [{"after_seconds": 11.0}, {"after_seconds": 9.0}]}))
    for stack, end in (("cluster-shop", 6), ("telemetry-shop", 1), ("application-shop-shop", 5)):
        folder = tmp_path / "terraform" / stack
        folder.mkdir(parents=True)
        times = [f"2026-12-01T08:52:{second:02}.500000Z" for second in (0, end)]
        (folder / "apply.log").write_text("".join(json.dumps({"@timestamp": time}) + "\n" for time in times))
    (tmp_path / "terraform" / "terraform.tfrc").touch()
    return tmp_path


def test_a_runs_figures_are_read_from_its_folder(run: Path) -> None:
    found = life.figures(run)
    assert found["cluster up, with DNS"] == 6.0
    assert found["application ready"] == 5.0
    assert found["fault to alert"] == 11.0
    assert found["whole life"] == 87.5
    assert found["whole life without agent, alert and evaluation"] == 33.0


def test_a_run_that_was_never_judged_has_no_figures(run: Path) -> None:
    (run / "evidence.json").unlink()
    with pytest.raises(OSError, match="evidence"):
        life.figures(run)


def test_the_table_has_median_and_range() -> None:
    lines = table({"destroy": [9.0, 4.0, 5.0]}).splitlines()
    assert "processors" in lines[0]
    assert lines[-1] == "| destroy | 5.0 | 4.0 | 9.0 |"
