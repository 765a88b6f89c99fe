"""JUnit XML, read back by junitparser."""

from __future__ import annotations

from pathlib import Path

from junitparser import Error, Failure, JUnitXml, Skipped
from run_folder import failure, lay, step
from shop_scene import cause, evidence, samples

from itbc.results.junit import to_junit
from itbc.results.records import load


def test_verdicts_and_steps_are_cases(tmp_path: Path) -> None:
    good = load(lay(tmp_path / "good", evidence(cause("checkout")), step(1, "apply"), step(2, "healthy")))
    bad = load(lay(tmp_path / "bad", evidence(seen=samples((30, 0.3))), step(1, "apply"), agent="noop"))
    document = JUnitXml.fromstring(to_junit([good, bad]))
    assert (document.tests, document.failures, document.errors, document.skipped) == (9, 1, 0, 1)
    assert document.time == 7.5
    first, second = list(document)
    assert [(suite.name, suite.tests, suite.failures) for suite in (first, second)] == [
        ("checkout-wrong-payment-address with test", 5, 0),
        ("checkout-wrong-payment-address with noop", 4, 1),
    ]
    failed = [case for case in second if not case.is_passed]
    assert [case.name for case in failed] == ["Deployment checkout in shop", "orders-succeed"]
    assert isinstance(failed[0].result[0], Skipped)
    (problem,) = failed[1].result
    assert isinstance(problem, Failure)
    assert "0.3 at 29 s" in problem.message
    assert {p.name: p.value for p in first.properties()}["seed"] == "7"


def test_a_run_that_passed_has_no_failures_however_it_was_diagnosed(tmp_path: Path) -> None:
    run = load(lay(tmp_path / "run", evidence(cause("checkout"), cause("payment")), step(1, "apply")))
    assert run.score is not None
    assert (run.score.passed, run.score.diagnosed) == (True, False)
    (suite,) = list(JUnitXml.fromstring(to_junit([run])))
    assert (suite.failures, suite.errors, suite.skipped) == (0, 0, 1)
    properties = {p.name: p.value for p in suite.properties()}
    assert (properties["passed"], properties["diagnosed"], properties["diagnosis"]) == ("true", "false", "0.5")


def test_what_is_not_the_agents_doing_is_an_error_and_the_score_is_skipped(tmp_path: Path) -> None:
    steps = (
        step(1, "apply"),
        step(2, "alerting", state="failed", failure=failure()),
        step(3, "destroy", state="started"),
    )
    run = load(lay(tmp_path / "run", None, *steps, state="failed", failure=failure()))
    document = JUnitXml.fromstring(to_junit([run]))
    assert (document.tests, document.failures, document.errors, document.skipped) == (4, 0, 2, 1)
    (suite,) = list(document)
    results = {case.name: case.result[0] for case in suite if case.result}
    assert isinstance(results["alerting"], Error)
    assert results["alerting"].type == "alert"
    assert "scenario.itb:12:3" in (results["alerting"].text or "")
    assert isinstance(results["destroy"], Error)
    assert isinstance(results["score"], Skipped)


def test_what_is_the_agents_doing_is_a_failure(tmp_path: Path) -> None:
    problem = failure(fault="agent", origin=None)
    run = load(lay(tmp_path / "run", None, step(1, "working", state="failed", failure=problem), failure=problem))
    (suite,) = list(JUnitXml.fromstring(to_junit([run])))
    assert (suite.failures, suite.errors) == (1, 0)


def test_characters_that_xml_cannot_hold_are_replaced(tmp_path: Path) -> None:
    broken = failure(message="died: \x1b[31m\x00 <&> \ufffe ü")
    run = load(lay(tmp_path / "run", None, step(1, "apply", state="failed", failure=broken), failure=broken))
    (suite,) = list(JUnitXml.fromstring(to_junit([run])))
    assert next(iter(suite)).result[0].message == "died: \ufffd[31m\ufffd <&> \ufffd ü"


def test_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    run = load(lay(tmp_path / "run", evidence(), step(1, "apply")))
    assert to_junit([run]) == to_junit([run])
    assert to_junit([run]).startswith(b"<?xml version='1.0' encoding='utf-8'?>\n")
