from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from itbc.contracts.evidence import Evidence
from itbc.contracts.record import Record, Step
from itbc.contracts.score import Score
from itbc.contracts.shape import read
from itbc.runner import session
from itbc.runner.artefacts import load
from itbc.runner.failures import Interrupted, StepFailed
from itbc.runner.leftovers.reaper import dead_runs, reap
from itbc.runner.life import Assignment, Life, refuse_to_break
from itbc.runner.observer import Silent
from itbc.runner.sandbox.network import Address
from itbc.runner.sandbox.workplace import is_own
from itbc.runner.session import Workshop
from itbc.runner.steps.working import WorkingOutput
from itbc.runner.waiting import Patience

from .conftest import toy_artefacts

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="agents need an own user, which needs root")


@pytest.fixture
def thing(short: Path) -> Path:
    folder = short / "things"
    folder.mkdir()
    return folder


def whole(life: Life, assignment: Assignment) -> None:
    life.bring_up()
    life.break_down()
    life.work(assignment)
    life.judge()


def assignment(command: list[str], seconds: float = 20.0) -> Assignment:
    return Assignment(agent="command" if command else "noop", command=command, seconds=seconds)


@NEEDS_ROOT
def test_a_whole_life_is_in_its_files(workshop: Workshop, short: Path, thing: Path) -> None:
    artefacts = toy_artefacts(short / "a", thing)
    script = 'cat "$ITBC_GOAL" && echo "{\\"root_causes\\": []}" > "$ITBC_ANSWER"'
    with session.new_run(workshop, artefacts, "command", seed=7) as life:
        whole(life, assignment(["sh", "-c", script]))
        assert (thing / "toy").exists()
        life.measure()
        ended = life.take_down()
        record = life.over()
        session.close(life)
    assert (ended.swept, ended.remaining, ended.problems) == (["agent workspace of " + record.run], [], [])
    assert not (thing / "toy").exists()
    folder = workshop.home.run(record.run)
    assert read(folder.record, Record) == record
    assert record.state == "done"
    assert record.destroyed
    assert record.score == read(folder.score, Score)
    assert record.score is not None
    assert record.score.passed
    assert record.score.diagnosed
    steps = [read(path, Step) for path in sorted(folder.steps.iterdir())]
    assert [(step.number, step.name, step.state) for step in steps] == [
        (1, "provision", "done"),
        (2, "baseline", "done"),
        (3, "identity", "done"),
        (4, "recording", "done"),
        (5, "inject", "done"),
        (6, "alerting", "done"),
        (7, "ready", "done"),
        (8, "agent", "done"),
        (9, "evaluate", "done"),
        (10, "metrics", "done"),
        (11, "destroy", "done"),
    ]
    assert "Look." in (folder.agent / "stdout").read_text()
    assert (folder.agent / "answer.json").exists()
    assert list(workshop.home.ledgers.iterdir()) == []
    assert list(workshop.home.workspaces.iterdir()) == []
    assert not (folder.path / "provider").exists()


@NEEDS_ROOT
def test_the_cache_is_kept_from_the_agent(workshop: Workshop, short: Path, thing: Path) -> None:
    # Not in /tmp, which no agent sees anyway.
    with tempfile.TemporaryDirectory(dir="/var/lib", prefix="itbc-test-") as cache:
        Path(cache).chmod(0o755)
        stacks = Path(cache) / "stacks"
        stacks.mkdir()
        (stacks / "healthy.tf.json").write_text("the healthy object")
        home = replace(workshop.home, cache=Path(cache))
        shop = replace(workshop, home=home)
        with session.new_run(shop, toy_artefacts(short / "a", thing), "command", seed=0) as life:
            whole(life, assignment(["sh", "-c", f"ls {cache}; cat {stacks}/*; test -x {cache} && echo looked"]))
            life.take_down()
            life.over()
            session.close(life)
            said = (life.around.run.agent / "stdout").read_text()
    assert said == "looked\n"


LENDING = """
echo "$MODEL_KEY"; printf %s "$MODEL_KEY" | head -c 20; sleep 0.3; printf %s "$MODEL_KEY" | tail -c +21; echo
echo "told $MODEL_KEY" >&2; echo "$LEVEL $WORD"
cause='{"kind": "x", "name": "'$MODEL_KEY'"}'
echo '{"root_causes": ['$cause'], "explanation": "'$MODEL_KEY'"}' > "$ITBC_ANSWER"
printf %s "$MODEL_KEY" | head -c 30
"""


@NEEDS_ROOT
def test_what_is_lent_to_an_agent_is_in_no_file(workshop: Workshop, short: Path, thing: Path) -> None:
    key = "sk-live-0123456789/abcdefghijklmnopqrstuvwxyz"
    # The last is a word of the environment: kept out, nothing could be judged by it.
    lent = {"MODEL_KEY": key, "LEVEL": "debug", "WORD": "root_causes"}
    shop = replace(workshop, variables={**workshop.variables, **lent})
    artefacts = toy_artefacts(short / "a", thing)
    assert any("root_causes" in path.read_text() for path in artefacts.folder.rglob("*.json"))
    given = replace(assignment(["sh", "-c", LENDING]), variables=list(lent), addresses=[Address("localhost", 11434)])
    with session.new_run(shop, artefacts, "command", seed=0) as life:
        whole(life, given)
        worked = life.journal.output("agent", WorkingOutput)
        life.take_down()
        life.over()
        session.close(life)
    folder = life.around.run
    assert worked is not None
    assert (worked.agent.variables, worked.agent.addresses) == (list(lent), ["localhost:11434"])
    assert read(folder.evidence, Evidence).agent == worked.agent
    mark = "[MODEL_KEY]"
    assert (folder.agent / "stdout").read_text() == f"{mark}\n{mark}\ndebug root_causes\n{mark}"
    assert (folder.agent / "stderr").read_text() == f"told {mark}\n"
    assert worked.agent.answer is not None
    assert (worked.agent.answer.root_causes[0].name, worked.agent.answer.explanation) == (mark, mark)
    for path in (each for each in short.rglob("*") if each.is_file() and not each.is_relative_to(short / "c")):
        assert key[:12].encode() not in path.read_bytes(), path


@NEEDS_ROOT
def test_what_itbc_sets_is_reserved_and_nothing_else_is_set(workshop: Workshop, short: Path, thing: Path) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing), "command", seed=0) as life:
        whole(life, assignment(["env"]))
        life.take_down()
        life.over()
        session.close(life)
    names = [line.partition("=")[0] for line in (life.around.run.agent / "stdout").read_text().splitlines()]
    assert {"PATH", "HOME", "LANG", "USER", "KUBECONFIG", "ITBC_GOAL", "ITBC_ANSWER"} <= set(names)
    assert [name for name in names if not is_own(name)] == []


@NEEDS_ROOT
@pytest.mark.parametrize(
    ("command", "seconds", "outcome", "code"),
    [(["sh", "-c", "exit 3"], 20.0, "failed", 3), (["sleep", "60"], 0.5, "timeout", None)],
)
def test_an_agents_failure_is_scored(
    workshop: Workshop, short: Path, thing: Path, command: list[str], seconds: float, outcome: str, code: int | None
) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing), "command", seed=0) as life:
        whole(life, assignment(command, seconds))
        worked = life.journal.output("agent", WorkingOutput)
        life.take_down()
        record = life.over()
        session.close(life)
    assert worked is not None
    assert (worked.agent.outcome, worked.agent.exit_code) == (outcome, code)
    assert (worked.agent.answer, worked.agent.answer_problem) == (None, "")
    assert record.failure is None
    assert record.score is not None


def test_terraforms_failure_is_the_environments_and_has_its_place(workshop: Workshop, short: Path, thing: Path) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing, "raise"), "noop", seed=0) as life:
        with pytest.raises(StepFailed) as caught:
            life.bring_up()
        record = life.failed(caught.value)
        ended = life.take_down()
        life.over()
        session.close(life)
    assert record.failure is not None
    assert (record.failure.stage, record.failure.fault) == ("provisioning", "environment")
    assert record.failure.origin is not None
    assert record.failure.origin.line == 3
    assert "broke after creating" in record.failure.message
    assert ended.remaining == []
    assert not (thing / "toy").exists()


def test_a_stop_in_the_middle_of_creating_leaves_nothing(workshop: Workshop, short: Path, thing: Path) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing, "slow"), "noop", seed=0) as life:
        threading.Thread(target=_stop_when, args=(thing / "creating", life), daemon=True).start()
        with pytest.raises(Interrupted) as caught:
            life.bring_up()
        life.failed(caught.value)
        ended = life.take_down()
        record = life.over()
        session.close(life)
    assert record.failure is not None
    assert record.failure.fault == "interrupted"
    assert (ended.remaining, ended.problems) == ([], [])
    assert not (thing / "toy").exists()


def _stop_when(path: Path, life: Life) -> None:
    while not path.exists():
        threading.Event().wait(0.05)
    life.around.patience.stop.set()


def test_what_terraform_cant_remove_the_sweep_does(workshop: Workshop, short: Path, thing: Path) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing, "sticky"), "noop", seed=0) as life:
        life.bring_up()
        ended = life.take_down()
        record = life.over()
        session.close(life)
    assert ended.swept == [f"toy {thing / 'toy'}"]
    assert ended.remaining == []
    assert len(ended.problems) == 2
    assert record.destroyed


def test_what_nobody_can_remove_is_named_and_stays_known(workshop: Workshop, short: Path, thing: Path) -> None:
    helpless = replace(workshop, tools=replace(workshop.tools, sweepers={}))
    with session.new_run(helpless, toy_artefacts(short / "a", thing, "sticky"), "noop", seed=0) as life:
        life.bring_up()
        ended = life.take_down()
        record = life.over()
        session.close(life)
    assert ended.remaining == [f"toy {thing / 'toy'}"]
    assert (record.state, record.destroyed) == ("failed", False)
    (taken,) = reap(workshop)
    assert taken.remaining == ()
    assert not (thing / "toy").exists()


def test_giving_up_says_what_remains_and_a_reaper_removes_it(workshop: Workshop, short: Path, thing: Path) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing), "noop", seed=0) as life:
        life.bring_up()
        workshop.last_patience.stop.set()
        ended = life.take_down()
        record = life.over()
        session.close(life)
    assert ended.remaining == [f"toy {thing / 'toy'}"]
    assert "given up on request" in ended.problems
    assert (record.state, record.destroyed) == ("failed", False)
    (taken,) = reap(replace(workshop, last_patience=Patience()))
    assert taken.remaining == ()
    assert not (thing / "toy").exists()


def test_steps_out_of_order_are_refused(workshop: Workshop, short: Path, thing: Path) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing), "noop", seed=0) as life:
        with pytest.raises(StepFailed, match="never seen healthy"):
            life.break_down()
        life.take_down()
        session.close(life)


def test_what_is_broken_or_gone_cant_be_broken(workshop: Workshop, short: Path, thing: Path) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing), "none", seed=0) as life:
        life.bring_up()
        name = life.around.run.name
        session.keep(life)
    with session.open_run(workshop, name, refuse_to_break) as life:
        life.break_down()
        session.keep(life)
    ledger = workshop.home.ledger(name).read_bytes()
    steps = len(life.journal.steps())
    with pytest.raises(StepFailed, match="already injected"), session.open_run(workshop, name, refuse_to_break):
        pytest.fail("opened")
    with session.open_run(workshop, name) as life, pytest.raises(StepFailed, match="already injected"):
        life.break_down()
    assert len(life.journal.steps()) == steps
    assert workshop.home.ledger(name).read_bytes().startswith(ledger)
    with session.open_run(workshop, name) as life:
        life.take_down()
        session.close(life)
    with pytest.raises(StepFailed, match="was destroyed"), session.open_run(workshop, name, refuse_to_break):
        pytest.fail("opened")
    assert list(workshop.home.ledgers.iterdir()) == []


def test_a_kept_run_goes_on_in_another_command_and_is_left_alone_until_it_expires(
    workshop: Workshop, short: Path, thing: Path
) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing), "none", seed=0) as life:
        life.bring_up()
        name = life.around.run.name
        assert list(dead_runs(workshop)) == []
        session.keep(life)
    assert list(reap(workshop)) == []
    assert (thing / "toy").exists()
    with session.open_run(workshop, name) as life:
        life.break_down()
        session.keep(life)
    later = replace(workshop, now=lambda: workshop.now() + session.LIFETIME * 1.01)
    (taken,) = reap(later)
    assert (taken.run, taken.remaining) == (name, ())
    assert "expired" in taken.why
    assert not (thing / "toy").exists()
    assert list(reap(later)) == []
    with session.open_run(workshop, name) as life:
        assert life.take_down().remaining == []
        session.close(life)


KILLED = """
import os, sys, pathlib, random, threading
from datetime import UTC, datetime
sys.path.insert(0, sys.argv[1])
import conftest
from itbc.runner import session
from itbc.runner.artefacts import load
from itbc.runner.home import Home
from itbc.runner.life import Assignment
from itbc.runner.observer import Silent
from itbc.runner.surroundings import Tools
from itbc.runner.leftovers.sweepers import SWEEPERS
from itbc.runner.waiting import Patience
folder, terraform, mode = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
workshop = session.Workshop(
    Home.from_environment({"ITBC_HOME": str(folder / "i"), "ITBC_CACHE": str(folder / "c")}),
    Tools(terraform, pathlib.Path("/bin/false"), [conftest.Toy], {"toy": conftest.sweep_toy, **SWEEPERS},
          {"embedded": lambda _: {}}),
    dict(os.environ), Silent(), Patience(), Patience(), lambda: datetime.now(UTC), random.Random(5))
artefacts = conftest.toy_artefacts(folder / "a", folder / "things", mode)
with session.new_run(workshop, artefacts, "command", 0) as life:
    life.bring_up()
    life.break_down()
    life.work(Assignment("command", ["sleep", "4250"], 60.0))
"""


@pytest.mark.parametrize("moment", ["creating", pytest.param("agent", marks=NEEDS_ROOT)])
def test_a_run_killed_at_any_moment_is_taken_by_the_next_reaper(
    workshop: Workshop, short: Path, thing: Path, terraform_program: Path, moment: str
) -> None:
    mode = "slow" if moment == "creating" else "fine"
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(short), str(terraform_program), mode]
    with subprocess.Popen(command) as process:
        _until((thing / "creating").exists if moment == "creating" else lambda: _runs("sleep 4250"))
        assert list(reap(workshop)) == []
        process.send_signal(signal.SIGKILL)
    assert (thing / "toy").exists()
    (found,) = dead_runs(workshop)
    assert f"process {process.pid} is gone" in found.why
    (taken,) = reap(workshop)
    assert taken.remaining == ()
    assert not (thing / "toy").exists()
    assert not _runs("sleep 4250")
    assert list(workshop.home.workspaces.iterdir()) == []
    assert list(workshop.home.ledgers.iterdir()) == []
    record = read(workshop.home.run(taken.run).record, Record)
    assert (record.state, record.destroyed) == ("failed", True)
    assert record.failure is not None
    assert record.failure.fault == "interrupted"


def test_a_run_without_a_record_is_swept_by_its_ledger(workshop: Workshop, short: Path, thing: Path) -> None:
    with session.new_run(workshop, toy_artefacts(short / "a", thing), "noop", seed=0) as life:
        life.bring_up()
        life.around.run.record.unlink()
    (taken,) = reap(workshop)
    assert taken.removed == (f"toy {thing / 'toy'}",)
    assert list(workshop.home.ledgers.iterdir()) == []


def test_changed_artefacts_are_refused(short: Path, thing: Path) -> None:
    toy_artefacts(short / "a", thing)
    (short / "a" / "environment.json").write_bytes((short / "a" / "environment.json").read_bytes() + b" ")
    with pytest.raises(StepFailed, match=r"environment\.json isn't what the manifest says"):
        load(short / "a")


def test_observers_hear_of_every_step(workshop: Workshop, short: Path, thing: Path) -> None:
    heard: list[str] = []

    class Listening(Silent):
        def step_began(self, name: str) -> None:
            heard.append(f"begin {name}")

        def step_ended(self, name: str, seconds: float, failure: Any) -> None:  # noqa: ARG002
            heard.append(f"end {name} {failure is None}")

    with session.new_run(
        replace(workshop, observer=Listening()), toy_artefacts(short / "a", thing, "raise"), "noop", seed=0
    ) as life:
        with pytest.raises(StepFailed):
            life.bring_up()
        life.take_down()
        session.close(life)
    assert heard == ["begin provision", "end provision False", "begin destroy", "end destroy True"]


def _runs(command: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if said == command:
            return True
    return False


def _until(condition: Callable[[], bool]) -> None:
    Patience().until(lambda: True if condition() else None, 30, every=0.05)
