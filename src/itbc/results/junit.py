"""Runs as JUnit XML, which continuous integration shows.

A run is a test suite: one case for each step and one for each verdict. What the
agent got wrong is a `failure`; what went wrong outside the agent is an `error`,
so that the two are counted apart; what was never judged is `skipped`. So is a
root cause that wasn't named and a wrong claim: a run passes by its objectives
and safeguards, and a suite has failures only where its run didn't pass. How the
diagnosis went is in the suite's properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from itbc.contracts.record import Failure, Step
from itbc.contracts.score import Verdict
from itbc.results.records import Run

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(runs: Iterable[Run]) -> bytes:
    """The XML document for some runs, in their order."""
    root = ET.Element("testsuites", name="itbc")
    root.extend([_suite(run) for run in runs])
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _suite(run: Run) -> ET.Element:
    record = run.record
    suite = ET.Element("testsuite", name=_clean(f"{record.scenario} with {record.agent}"), timestamp=record.created)
    properties = ET.SubElement(suite, "properties")
    for name in ("run", "scenario", "target", "agent", "seed"):
        ET.SubElement(properties, "property", name=name, value=_clean(str(getattr(record, name))))
    if run.score is not None:
        for name in ("passed", "mitigation", "diagnosed", "diagnosis"):
            ET.SubElement(properties, "property", name=name, value=str(getattr(run.score, name)).lower())
    suite.extend([_step(step, record.scenario) for step in run.steps])
    if run.score is not None:
        suite.extend([_verdict(verdict, record.scenario) for verdict in run.score.verdicts])
    elif record.failure is not None:
        suite.append(_unscored(record.failure, record.scenario))
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for tag, counter in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(counter, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    return suite


def _step(step: Step, scenario: str) -> ET.Element:
    case = ET.Element("testcase", classname=_clean(f"{scenario}.steps"), name=_clean(step.name))
    case.set("time", f"{step.seconds or 0.0:.3f}")
    if step.failure is not None:
        _problem(case, step.failure)
    elif step.state == "started":
        ET.SubElement(case, "error", message="the run ended before this step did", type="interrupted")
    return case


def _verdict(verdict: Verdict, scenario: str) -> ET.Element:
    case = ET.Element(
        "testcase", classname=_clean(f"{scenario}.{verdict.kind}"), name=_clean(verdict.name), time="0.000"
    )
    if not verdict.passed and verdict.kind == "root-cause":
        ET.SubElement(case, "skipped", message=_clean(f"doesn't count for passing: {verdict.reason}"))
    elif not verdict.passed:
        ET.SubElement(case, "failure", message=_clean(verdict.reason), type=verdict.kind)
    return case


def _unscored(failure: Failure, scenario: str) -> ET.Element:
    case = ET.Element("testcase", classname=_clean(f"{scenario}.score"), name="score", time="0.000")
    ET.SubElement(case, "skipped", message=_clean(f"not scored: {failure.stage} failed"))
    return case


def _problem(case: ET.Element, failure: Failure) -> None:
    tag = "failure" if failure.fault == "agent" else "error"
    problem = ET.SubElement(case, tag, message=_clean(failure.message), type=failure.fault)
    origin = "" if failure.origin is None else f"{failure.origin.file}:{failure.origin.line}:{failure.origin.column}\n"
    problem.text = _clean(f"{origin}{failure.remedy}")


def _clean(text: str) -> str:
    """Text without the characters that XML can't hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
