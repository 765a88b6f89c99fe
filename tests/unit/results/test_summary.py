"""The terminal summary, as text."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console
from run_folder import failure, lay, step
from shop_scene import cause, changed, deployment, evidence, replaced, samples

from itbc.results.records import load
from itbc.results.summary import render


def shown(folder: Path, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    render(load(folder), console)
    text = console.file
    assert isinstance(text, io.StringIO)
    return text.getvalue()


def test_a_passed_run(tmp_path: Path) -> None:
    folder = lay(tmp_path / "run", evidence(cause("checkout")), step(1, "apply", seconds=31.25), step(2, "healthy"))
    text = shown(folder)
    assert "PASSED  mitigation 1.00 · diagnosis 1.00 (root causes found)" in text
    assert "held 10 s from 5 s after the agent's end" in text
    assert "all 10 objects are as they were" in text
    assert "apply" in text
    assert "31.2 s" in text
    assert "33.8 s" in text
    assert f"record: {folder}/record.json" in text
    assert "still stands" not in text


def test_what_the_agent_was_granted_by_its_user_is_told(tmp_path: Path) -> None:
    seen = evidence(cause("checkout"))
    agent = msgspec.structs.replace(seen.agent, variables=["KEY"], addresses=["api.example.com:443"])
    text = shown(lay(tmp_path / "run", msgspec.structs.replace(seen, agent=agent)))
    assert "Beyond the scenario it was granted KEY, api.example.com:443." in text
    assert "granted" not in shown(lay(tmp_path / "other", seen))


def test_what_was_masked_for_the_run_is_told(tmp_path: Path) -> None:
    folder = lay(tmp_path / "run", evidence(cause("checkout")), masks=["logs:payment", "traces"])
    assert "masked for this run: logs:payment, traces" in shown(folder)
    assert "masked for" not in shown(lay(tmp_path / "other", evidence(cause("checkout"))))


def test_a_failed_run_says_why(tmp_path: Path) -> None:
    def scale(thing: dict[str, Any]) -> None:
        thing["spec"]["replicas"] = 0

    after = replaced(changed(deployment("payment"), scale))
    text = shown(lay(tmp_path / "run", evidence(cause("payment"), after=after, seen=samples((30, 0.3)))))
    assert "FAILED  mitigation 0.00 · diagnosis 0.33 (0 of 1 root causes named, 1 wrongly blamed)" in text
    assert "0.3 at 29 s" in text
    assert "Deployment payment in shop: /spec/replicas was 1, is 0" in text
    assert "the nearest claim is Deployment payment in shop, 2 steps away" in text


def test_a_wrong_claim_beside_the_true_one_is_told_apart(tmp_path: Path) -> None:
    text = shown(lay(tmp_path / "run", evidence(cause("checkout"), cause("payment"))))
    assert "PASSED  mitigation 1.00 · diagnosis 0.50 (1 of 1 root causes named, 1 wrongly blamed)" in text


def test_a_run_that_was_not_scored_says_whose_doing_it_was(tmp_path: Path) -> None:
    steps = (step(1, "apply"), step(2, "alerting", state="failed", failure=failure()))
    text = shown(lay(tmp_path / "run", None, *steps, state="failed", failure=failure(), destroyed=False))
    assert "NOT SCORED: alerting failed (alert, not the agent's doing)" in text
    assert "error: scenario.itb:12:3: HighRequestErrorRate didn't fire within 180 s" in text
    assert "help: look at the alert's expression" in text
    assert "The environment still stands" in text


@pytest.mark.parametrize("width", [40, 80])
def test_names_with_brackets_and_narrow_terminals(tmp_path: Path, width: int) -> None:
    folder = lay(
        tmp_path / "run", None, step(1, "apply[0]"), state="failed", failure=failure(message="[bold]broken[/x]")
    )
    text = shown(folder, width)
    assert "apply[0]" in text
    assert "[bold]broken[/x]" in text
