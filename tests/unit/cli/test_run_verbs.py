from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from itbc.cli import main
from itbc.cli.claims import judge
from itbc.cli.compiling import hiding_places, secrets
from itbc.cli.exits import Exit
from itbc.cli.granting import Granted, granted
from itbc.cli.leftovers import counted
from itbc.cli.wholerun import Lived, exit_code
from itbc.cli.workshop import told
from itbc.contracts.evidence import AgentRun, Evidence, SeenAlert
from itbc.contracts.record import Failure, Record, Step
from itbc.contracts.score import Score, Verdict
from itbc.contracts.shape import Origin
from itbc.results.records import Run
from itbc.runner.sandbox.network import Address
from itbc.runner.steps.destroying import DestroyingOutput

CLEAN = DestroyingOutput(swept=[], remaining=[], problems=[])


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITBC_HOME", str(tmp_path / "h"))
    monkeypatch.setenv("ITBC_CACHE", str(tmp_path / "c"))
    monkeypatch.setenv("EMPTY", "")


@pytest.mark.parametrize("verb", ["apply", "inject", "run", "evaluate", "destroy", "verify", "gc", "doctor"])
def test_every_verb_explains_itself_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == Exit.FINE
    shown = capsys.readouterr().out
    assert f"Example: itbc {verb}" in shown
    assert "\\b" not in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "."], Exit.USAGE, "Missing option '--agent'"),
        (["run", ".", "--agent", "nobody"], Exit.USAGE, "no agent is called 'nobody'"),
        *(
            (["run", ".", "--agent", "noop", "--timeout", seconds], Exit.USAGE, "Invalid value for '--timeout'")
            for seconds in ("nan", "inf", "-inf", "1e300", "0", "43201", "soon")
        ),
        (["run", ".", "--agent", "/usr/bin"], Exit.USAGE, "/usr/bin is no executable file"),
        (["run", ".", "--agent", "command", "--", "/usr/bin"], Exit.USAGE, "/usr/bin is no executable file"),
        (["run", "nowhere", "--agent", "noop"], Exit.USAGE, "does not exist"),
        *(
            ([verb, ".", *agent, "--agent-env", name], Exit.USAGE, said)
            for verb, agent in (("run", ["--agent", "noop"]), ("verify", []))
            for name, said in (
                ("NOBODY_HAS_THIS", "NOBODY_HAS_THIS is not set in your environment"),
                ("EMPTY", "EMPTY is empty in your environment"),
                ("PATH", "PATH is one that itbc sets"),
                ("KUBECONFIG", "KUBECONFIG is one that itbc sets"),
                ("ITBC_HOME", "ITBC_HOME is one that itbc sets"),
                ("KEY=hush", "'KEY': give the name alone"),
                ("MY-KEY", "'MY-KEY' is no variable's name"),
            )
        ),
        *(
            ([verb, ".", *agent, "--agent-net", "api.example.com"], Exit.USAGE, "isn't HOST:PORT")
            for verb, agent in (("run", ["--agent", "noop"]), ("verify", []))
        ),
        (
            ["run", ".", "--agent", "noop", *(f"--agent-net=192.0.2.1:{port}" for port in range(1, 66))],
            Exit.USAGE,
            "can be granted 64 addresses",
        ),
        (["run", ".", "--agent", "noop", "--agent-net", "nowhere.invalid:1"], Exit.OUTSIDE, "has no address"),
        (["verify", ".", "--agents", "nobody"], Exit.USAGE, "no shipped agent is called nobody"),
        (["verify", ".", "--agents", "nobody"], Exit.USAGE, "mutant:NAME"),
        (["doctor", "--target", "moon"], Exit.USAGE, "there is no target moon"),
        (["destroy", "../x"], Exit.FAILED, "is no run's name"),
        (["destroy", "20261201-101500-ab12"], Exit.FAILED, "there is no run"),
        (["inject", "20261201-101500-ab12"], Exit.FAILED, "there is no run"),
        (["evaluate", "20261201-101500-ab12"], Exit.FAILED, "evaluation.json"),
        (["gc"], Exit.FINE, "nothing to remove"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], code: Exit, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == code
    output = capsys.readouterr()
    assert said in output.out + output.err
    assert "Traceback" not in output.err


def test_a_value_on_the_command_line_is_refused_and_not_said_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEY", "sk-0123456789")
    line = ["--agent-env", "KEY", "--agent", "command", "--", "sh", "-c", "x --key=sk-0123456789"]
    assert main(["run", ".", *line]) == Exit.USAGE
    said = capsys.readouterr().err
    assert "command line holds the value of KEY" in said
    assert "0123456789" not in said


def test_a_short_value_is_warned_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LEVEL", "debug")
    monkeypatch.setenv("LEVEL_OF_ALL", "debugging")
    grants = granted(("LEVEL", "LEVEL_OF_ALL"), (Address("localhost", 1),))
    assert grants == Granted(("LEVEL", "LEVEL_OF_ALL"), (Address("localhost", 1),))
    warned = capsys.readouterr().err.splitlines()
    assert len(warned) == 1
    assert warned[0].startswith("warning: the value of LEVEL has less than 8 characters")


def test_a_dry_run_makes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gc", "--dry-run"]) == Exit.FINE
    assert capsys.readouterr().out == "nothing to remove\n"
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_evidence_cant_be_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "record.json").write_text("{}")
    assert main(["evaluate", str(tmp_path)]) == Exit.FAILED
    said = capsys.readouterr().err
    assert f"there is no evidence in {tmp_path}" in said
    assert f"help: `itbc report {tmp_path}` shows how far it got" in said


def record(agent: str, *, passed: bool | None, failure: Failure | None = None, destroyed: bool = True) -> Record:
    score = None
    if passed is not None:
        score = Score(
            run="r",
            scenario="s",
            agent=agent,
            passed=passed,
            diagnosed=passed,
            diagnosis=float(passed),
            mitigation=float(passed),
            verdicts=[Verdict(name="o", kind="objective", passed=passed, value=float(passed), reason="why")],
        )
    return Record(
        run="r",
        scenario="s",
        title="t",
        persona="sre",
        target="embedded",
        agent=agent,
        artefacts="artefacts",
        seed=0,
        created="",
        expires="",
        state="done",
        destroyed=destroyed,
        failure=failure,
        score=score,
    )


def lived(found: Record, *steps: str) -> Lived:
    done = tuple(
        Step(number=number, name=name, stage="healthy", state="done", started="") for number, name in enumerate(steps)
    )
    evidence = Evidence(
        run="r",
        scenario="s",
        agent=AgentRun(name=found.agent, outcome="finished", exit_code=0, seconds=1.0, answer=None),
        alerts=[SeenAlert(name="A", labels={}, after_seconds=9.6)],
        series=[],
        before=[],
        after=[],
    )
    return Lived(Run(Path(), found, done, evidence if found.score else None, found.score), CLEAN)


@pytest.mark.parametrize(
    ("agent", "passed", "holds"),
    [
        ("noop", False, True),
        ("noop", True, False),
        ("solution", True, True),
        ("solution", False, False),
        ("recreate", False, True),
        ("recreate", True, False),
        ("mutant:half", False, True),
        ("mutant:half", True, False),
    ],
)
def test_claims(agent: str, *, passed: bool, holds: bool) -> None:
    claims = judge(lived(record(agent, passed=passed), "recording", "inject", "alerting"))
    assert claims.hold is holds
    assert not claims.outside
    assert claims.shown["alert fired"] == "[green]✓[/green] (10 s)"


def test_a_mutant_that_fails_for_its_own_mistake_proves_nothing() -> None:
    found = lived(record("mutant:half", passed=False))
    assert found.run.evidence is not None
    agent = msgspec.structs.replace(found.run.evidence.agent, outcome="failed", exit_code=1)
    evidence = msgspec.structs.replace(found.run.evidence, agent=agent)
    claims = judge(replace(found, run=replace(found.run, evidence=evidence)))
    assert claims.reasons == ("a command of the mutant fails, so it proves nothing (exit code 1)",)


def test_a_solution_that_doesnt_name_the_truth_is_told() -> None:
    found = record("solution", passed=True)
    assert found.score is not None
    blind = msgspec.structs.replace(found, score=msgspec.structs.replace(found.score, diagnosed=False))
    assert judge(lived(blind)).reasons == ("the solution doesn't name the truth",)


def test_a_cheat_must_not_find_the_truth_either() -> None:
    found = record("blame-all", passed=False)
    assert found.score is not None
    lucky = msgspec.structs.replace(found, score=msgspec.structs.replace(found.score, diagnosed=True))
    assert judge(lived(lucky)).reasons == ("blame-all gets the diagnosis right without looking for it",)


def test_an_alert_that_doesnt_fire_is_the_scenarios_and_a_dead_cluster_isnt() -> None:
    silent = Failure(stage="alerting", fault="alert", message="it didn't fire")
    assert not judge(lived(record("noop", passed=None, failure=silent))).outside
    dead = Failure(stage="provisioning", fault="environment", message="no cluster")
    assert judge(lived(record("noop", passed=None, failure=dead))).outside
    assert judge(lived(record("noop", passed=False, destroyed=False))).outside


def test_a_run_that_its_user_stopped_says_nothing_of_the_scenario() -> None:
    ended = Failure(stage="provisioning", fault="interrupted", message="terraform apply was stopped")
    claims = judge(lived(record("noop", passed=None, failure=ended)))
    assert claims.stopped
    assert not claims.hold
    assert claims.reasons == ("stopped before its end, so it shows nothing",)


def test_what_is_found_after_the_end_is_told() -> None:
    claims = judge(lived(record("noop", passed=False)), ["cluster x"])
    assert claims.reasons == ("was still there after everything was destroyed: cluster x",)
    assert claims.shown["destroyed clean"] == "[red]✗[/red]"


def test_exit_codes() -> None:
    assert exit_code(record("noop", passed=True), CLEAN) == Exit.FINE
    assert exit_code(record("noop", passed=False), CLEAN) == Exit.FAILED
    left = DestroyingOutput(swept=[], remaining=["cluster x"], problems=[])
    assert exit_code(record("noop", passed=True), left) == Exit.OUTSIDE
    failure = Failure(stage="alerting", fault="alert", message="m", origin=Origin(file="s.itb", line=2, column=3))
    assert exit_code(record("noop", passed=None, failure=failure), CLEAN) == Exit.OUTSIDE
    assert told(failure) == "s.itb:2:3: m"


def test_things_are_counted_by_kind() -> None:
    assert counted(["cluster a", "object b", "object c"]) == "1 cluster, 2 object"
    assert counted([]) == "nothing"


def test_the_whole_checkout_may_give_the_truth_away(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    scenario = tmp_path / "scenarios" / "one" / "scenario.itb"
    scenario.parent.mkdir(parents=True)
    scenario.touch()
    for named in (scenario, scenario.parent):
        assert secrets(named) == [scenario.parent]
        assert hiding_places(named)[0] == tmp_path
