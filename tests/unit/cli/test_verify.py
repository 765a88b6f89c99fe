from __future__ import annotations

import io
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from itbc.cli import verify
from itbc.cli.claims import Claims
from itbc.cli.exits import Exit, ExitError
from itbc.cli.progress import LANE_SECONDS, Lane
from itbc.cli.verify import Trial
from itbc.cli.workshop import Desk
from itbc.runner.artefacts import Artefacts


class Told:
    """Takes what is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """Keep it."""
        self.lines.append(text)


class Place:
    """A desk as far as trials need one."""

    def __init__(self) -> None:
        self.progress = Told()
        self.workshop = SimpleNamespace(patience=SimpleNamespace(stop=threading.Event()))

    def lane(self, name: str) -> Place:  # noqa: ARG002 - all lanes tell the same
        """Itself."""
        return self


def _trials(*agents: str) -> list[Trial]:
    artefacts = cast("Artefacts", SimpleNamespace(manifest=SimpleNamespace(scenario="s")))
    return [Trial(Path("s"), artefacts, agent, ()) for agent in agents]


def _claims(agent: str) -> Claims:
    return Claims("s", agent, {}, (), outside=False)


def test_results_come_in_the_order_of_the_trials_whichever_ends_first(monkeypatch: pytest.MonkeyPatch) -> None:
    second_ended = threading.Event()

    def live(place: Any, trial: Trial, seed: int) -> Claims:  # noqa: ARG001 - the signature is the real one's
        if trial.agent == "first":
            assert second_ended.wait(30)
        else:
            second_ended.set()
        return _claims(trial.agent)

    monkeypatch.setattr(verify, "_verify", live)
    found = verify._live_all(cast("Desk", Place()), _trials("first", "second"), 0, 2)
    assert [each.agent for each in found] == ["first", "second"]


def test_after_the_wish_to_stop_no_trial_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place()

    def live(here: Any, trial: Trial, seed: int) -> Claims:  # noqa: ARG001 - the signature is the real one's
        place.workshop.patience.stop.set()
        return _claims(trial.agent)

    monkeypatch.setattr(verify, "_verify", live)
    found = verify._live_all(cast("Desk", place), _trials("a", "b", "c"), 0, 1)
    assert [each.agent for each in found] == ["a"]


def test_a_bug_in_one_trial_stops_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def live(place: Any, trial: Trial, seed: int) -> Claims:  # noqa: ARG001 - the signature is the real one's
        raise LookupError(trial.agent)

    monkeypatch.setattr(verify, "_verify", live)
    place = Place()
    with pytest.raises(LookupError, match="a"):
        verify._live_all(cast("Desk", place), _trials("a", "b"), 0, 1)
    assert place.workshop.patience.stop.is_set()
    assert place.progress.lines == ["s with a"]


def _with_mutants(*names: str) -> Artefacts:
    mutants = [SimpleNamespace(name=name) for name in names]
    return cast("Artefacts", SimpleNamespace(environment=SimpleNamespace(mutants=mutants)))


@pytest.mark.parametrize(
    ("asked", "played"),
    [
        (["mutants"], ["mutant:half", "mutant:late"]),
        (["noop", "mutant:late"], ["noop", "mutant:late"]),
        (["solution", "mutant:other"], ["solution"]),
    ],
)
def test_mutants_can_be_named_and_those_of_another_scenario_are_left_out(asked: list[str], played: list[str]) -> None:
    assert list(verify._each(verify._agents(",".join(asked)), _with_mutants("half", "late"))) == played


def test_a_mutant_that_no_scenario_has_is_told_with_those_there_are() -> None:
    trials = [Trial(Path("s"), _with_mutants("half", "late"), agent, ()) for agent in ("noop", "mutant:half")]
    verify._all_there(["noop", "mutant:half"], trials)
    with pytest.raises(ExitError, match="mutant other") as wrong:
        verify._all_there(["noop", "mutant:half", "mutant:other"], trials)
    assert wrong.value.code == Exit.USAGE
    assert wrong.value.remedy == "there are half, late"


def test_as_many_runs_at_once_as_processors_and_memory_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    free = {"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": (5 << 30) // 4096}
    monkeypatch.setattr("os.sysconf", lambda name: free[name])
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 2, 3})  # noqa: ARG005 - the signature is Python's
    assert verify.default_jobs() == 2
    free["SC_AVPHYS_PAGES"] = 1
    assert verify.default_jobs() == 1
    free["SC_AVPHYS_PAGES"] = (64 << 30) // 4096
    assert verify.default_jobs() == 4


def test_a_lane_puts_its_name_before_every_line_and_spares_notes() -> None:
    now = [0.0]
    out = io.StringIO()
    lane = Lane(Console(file=out, width=40), "shop with noop", lambda: now[0])
    lane.step_began("evaluate")
    lane.note("at once")
    now[0] = LANE_SECONDS
    lane.note("later [x]")
    lane.step_ended("evaluate", 15.0, None)
    assert out.getvalue().splitlines() == [
        "shop with noop  … evaluate",
        f"shop with noop  {LANE_SECONDS:6.1f} s  later [x]",
        f"shop with noop  ✓ {'evaluate':<32}   15.0 s",
    ]
