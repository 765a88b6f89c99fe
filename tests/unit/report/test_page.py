"""The page as a whole, read back by an HTML parser."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from run_folder import failure, lay, step
from shop_scene import agent, cause, evidence, samples

from itbc.contracts.answer import Answer
from itbc.contracts.environment import Environment, Task
from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import AgentRun
from itbc.contracts.metrics import Course, Metrics
from itbc.contracts.record import Record
from itbc.contracts.score import Score
from itbc.contracts.shape import ContractError, read, write
from itbc.contracts.trajectory import Executed, Trajectory
from itbc.results.report import render_page

from .conftest import COMMANDS, at, broken_off, steps, whole

VOID = {"meta", "link", "img", "br", "hr", "input", "base", "embed"}


class Read(HTMLParser):
    """A page's elements and its text; fails where elements aren't properly nested."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.style = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self.text += " "

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self.style += data
        else:
            self.text += data

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


def shown(folder: Path) -> Read:
    return Read(render_page(folder))


def sections(page: Read) -> list[str]:
    return re.findall(
        r"What failed|Score|Timeline|What was wrong|Objectives around the incident|The agent's trajectory", page.words
    )


def test_a_whole_run(full: Path) -> None:
    page = shown(full)
    for wanted in (
        "Passed Orders fail because checkout calls an address nobody listens on",
        "Mitigation 1.00, diagnosis 1.00 (root causes found).",
        "2030-01-01 00:00:00 UTC",
        "12 s Fault to alert",
        "5.0 s End to recovery",
        "2 min Whole life",
        "✓ orders-succeed objective held 10 s from 5 s after the agent's end",
        "fault injected at 0:30 HighRequestErrorRate fires at 0:42 agent begins at 0:45 agent ends at 0:55",
        "all objectives hold at 1:00",
        "Root causes Deployment checkout in shop Chain checkout → frontend",
        "wrong-address: k8s.env.modified in cluster shop scenario.itb:12:3",
        "HighRequestErrorRate after 12 s namespace=shop, service=frontend",
        "✓ Deployment checkout in shop",
        "Make orders work again.",
        "kubectl set env 'A=b c' at 0:00 · exit code 0 after 1.0 s stdout updated",
        "false at 0:02 · exit code 1 after 0.1 s stderr oops",
        "sleep 1d at 0:03 · ended before its own end stdout sleep",
    ):
        assert wanted in page.words
    assert "What failed" not in page.words
    assert len(sections(page)) == 5


def test_the_topology_says_who_is_who(full: Path) -> None:
    page = shown(full)
    nodes = [attributes["class"] for tag, attributes in page.elements if tag == "g"]
    assert nodes == ["node", "node chain alerting", "node", "node chain cause", "node"]
    assert "checkout; root cause: Deployment checkout in shop; named by the agent" in page.words
    assert "frontend; alert: HighRequestErrorRate" in page.words
    calls = [attributes["class"] for tag, attributes in page.elements if tag == "path" and "marker-end" in attributes]
    assert calls == ["call", "call", "call", "call chain"]


def test_the_plot_has_course_bound_moments_and_hold(full: Path) -> None:
    page = shown(full)
    (area,) = [attributes for tag, attributes in page.elements if attributes.get("class") == "area"]
    assert area["aria-label"] == ("orders-succeed: between 0 and 0.3, last 0; wanted < 0.01; not so for 48 s in all")
    moments = [a["class"] for tag, a in page.elements if tag == "line" and str(a.get("class")).startswith("moment")]
    assert moments[-4:] == ["moment injected", "moment fired", "moment agent", "moment agent"]
    bands = [a for tag, a in page.elements if tag == "rect" and str(a.get("class")).startswith("band")]
    assert [band["class"] for band in bands] == ["band agent", "band hold"]
    # From 0:15 to 1:49 are 94 seconds; the agent worked from 0:45 to 0:55.
    assert float(str(bands[0]["x"]).rstrip("%")) == pytest.approx(100 * 30 / 94, abs=0.001)
    assert float(str(bands[0]["width"]).rstrip("%")) == pytest.approx(100 * 10 / 94, abs=0.002)
    (course,) = [a["d"] for _, a in page.elements if a.get("class") == "course"]
    assert course is not None
    assert course.count("M") == 1
    assert course.count("L") == 89


def test_a_gap_breaks_the_line(full: Path, rewritten: Callable[..., None]) -> None:
    courses = [Course(objective="orders-succeed", values=[0.1, None, 0.2, 0.3, None])]
    rewritten(full / "metrics.json", Metrics, courses=courses)
    (course,) = [a["d"] for _, a in shown(full).elements if a.get("class") == "course"]
    assert re.sub(r"[\d. ]+", " ", str(course)) == "M h M h L "


def test_without_metrics_the_plot_begins_with_the_agents_end(full: Path) -> None:
    (full / "metrics.json").unlink()
    page = shown(full)
    assert "no record from before the agent's end" in page.words
    (course,) = [a["d"] for _, a in page.elements if a.get("class") == "course"]
    assert str(course).count("L") == 15


def test_a_failed_run_says_why_whose_fault_and_where(tmp_path: Path) -> None:
    page = shown(broken_off(tmp_path / "run"))
    assert "Not scored" in page.words
    assert "The run ended while alerting." in page.words
    assert (
        "HighRequestErrorRate didn't fire within 180 s While alerting Whose fault the alert's "
        "Comes from scenario.itb:12:3 What to do: look at the alert's expression" in page.words
    )
    assert "Alert waited for failed" in page.words
    assert sections(page) == ["What failed", "Timeline", "What was wrong"]


def test_a_wrong_answer_and_a_failed_objective(tmp_path: Path) -> None:
    seen = evidence(cause("payment"), seen=samples((40, 0.3)))
    page = shown(whole(tmp_path / "run", seen))
    assert "Failed Orders fail" in page.words
    assert "✗ Deployment payment in shop" in page.words
    assert "✗ orders-succeed objective wanted < 0.01 for 10 s" in page.words
    assert "End to recovery" not in page.words


def test_what_the_agent_was_granted_by_its_user_is_shown(full: Path, tmp_path: Path) -> None:
    seen = evidence(cause("checkout"))
    agent = msgspec.structs.replace(seen.agent, variables=["KEY"], addresses=["<api>:443"])
    page = shown(whole(tmp_path / "granted", msgspec.structs.replace(seen, agent=agent)))
    assert "Granted to it KEY, <api>:443" in page.words
    assert "Granted to it" not in shown(full).words


def test_what_was_masked_for_the_run_is_shown(full: Path, tmp_path: Path) -> None:
    folder = whole(tmp_path / "masked", evidence(cause("checkout")))
    record = read(folder / "record.json", Record)
    write(folder / "record.json", msgspec.structs.replace(record, masks=["logs:payment", "traces"]))
    assert "Masked for this run logs:payment, traces" in shown(folder).words
    assert "Masked for this run" not in shown(full).words


@pytest.mark.parametrize("step_count", range(9))
def test_a_run_that_ended_anywhere_has_a_page(tmp_path: Path, step_count: int) -> None:
    begun = steps(evidence())[:step_count]
    if begun:
        begun[-1] = step(step_count, begun[-1].name, stage=begun[-1].stage, state="started", started=at(60), ended=None)
    folder = lay(tmp_path / "run", None, *begun, state="working", destroyed=False, created=at(0))
    for optional in ("evaluation",):
        (folder / "artefacts" / f"{optional}.json").unlink()
    page = shown(folder)
    assert "Unfinished" in page.words
    assert "The environment still stood" in page.words


def test_what_went_wrong_besides_is_told(full: Path) -> None:
    output = {"swept": [], "remaining": ["embedded-cluster c"], "problems": ["stack one: no answer"]}
    write(full / "steps" / "08-destroy.json", step(8, "destroy", stage="destroying", started=at(111), output=output))
    assert "stack one: no answer still there: embedded-cluster c" in shown(full).words


def test_wrong_files_are_contract_errors(full: Path) -> None:
    (full / "metrics.json").write_text("{}")
    with pytest.raises(ContractError, match=r"metrics\.json"):
        render_page(full)
    (full / "metrics.json").unlink()
    write(full / "steps" / "01-provision.json", step(1, "provision", started="yesterday"))
    with pytest.raises(ContractError, match="'yesterday' is no time"):
        render_page(full)


def test_the_same_folder_gives_the_same_bytes_wherever_it_is(full: Path, tmp_path: Path) -> None:
    shutil.copytree(full, tmp_path / "elsewhere")
    assert render_page(full) == render_page(tmp_path / "elsewhere") == render_page(full)
    assert str(tmp_path) not in render_page(full)


def test_nothing_is_fetched_or_run_and_the_policy_allows_only_the_pages_own_style(full: Path) -> None:
    page = shown(full)
    assert not {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "object", "base", "form", "a"}
    attributes = {name for _, each in page.elements for name in each}
    assert not attributes & {"src", "href", "xlink:href", "style"}
    assert not re.search(r"url\((?!#)|@import", page.style)
    policies = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert policies == [f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"]


HOSTILE = (
    "<script>alert(1)</script>]]><img src=x onerror=alert(2)>\"'--></style></title></svg>"
    "{{ 7*7 }}{% raw %}&lt;\x1b[31mred\u202eevil\x00`${x}`"
)
SEEN = HOSTILE.replace("\x1b[31m", "").replace("\u202e", "⟨U+202E⟩").replace("\x00", "⟨U+0000⟩")


def _hostile(folder: Path, rewritten: Callable[..., None]) -> None:
    """Put hostile text wherever a run's folder has text."""
    answer = Answer(root_causes=[cause(HOSTILE, HOSTILE)], explanation=HOSTILE)
    run = AgentRun(name=HOSTILE, outcome="failed", exit_code=1, seconds=1.0, answer=answer, answer_problem=HOSTILE)
    seen = evidence()
    write(folder / "evidence.json", type(seen)(**{**_fields(seen), "agent": run}))
    score = read(folder / "score.json", Score)
    verdicts = [type(each)(**{**_fields(each), "reason": HOSTILE}) for each in score.verdicts]
    rewritten(folder / "score.json", Score, verdicts=verdicts)
    wrong = failure(message=HOSTILE, remedy=HOSTILE)
    rewritten(
        folder / "record.json",
        Record,
        title=HOSTILE,
        scenario=HOSTILE,
        agent=HOSTILE,
        target=HOSTILE,
        run=HOSTILE,
        failure=wrong,
    )
    rewritten(folder / "metrics.json", Metrics, problems=[HOSTILE])
    task = Task(goal=HOSTILE, within_seconds=1.0, grants=[])
    rewritten(folder / "artefacts" / "environment.json", Environment, task=task)
    spec = read(folder / "artefacts" / "evaluation.json", Evaluation)
    truth = type(spec.truth)(
        root_causes=spec.truth.root_causes,
        chain=[HOSTILE],
        topology=[*spec.truth.topology, type(spec.truth.topology[0])(name=HOSTILE, entities=[], calls=["load"])],
    )
    objectives = [type(each)(**{**_fields(each), "query": HOSTILE}) for each in spec.objectives]
    rewritten(folder / "artefacts" / "evaluation.json", Evaluation, truth=truth, objectives=objectives)
    alert = {"name": HOSTILE, "labels": {HOSTILE: HOSTILE}, "after_seconds": 12.0}
    write(
        folder / "steps" / "04-alerting.json",
        step(4, "alerting", stage="alerting", started=at(32), ended=at(42), output={"alerts": [alert]}),
    )
    broken = step(9, HOSTILE, stage="destroying", state="failed", started=at(119), ended=at(120), failure=wrong)
    write(folder / "steps" / "09-hostile.json", broken)
    data = HOSTILE.encode()
    (folder / "agent" / "stdout").write_bytes(data)
    (folder / "agent" / "stderr").write_bytes(data)
    command = Executed(
        command=["sh", "-c", HOSTILE],
        at_seconds=0.0,
        seconds=1.0,
        exit_code=0,
        stdout_bytes=len(data),
        stderr_bytes=len(data),
    )
    write(folder / "agent" / "trajectory.json", Trajectory(commands=[command]))


def _fields(shape: Any) -> dict[str, Any]:
    return {name: getattr(shape, name) for name in shape.__struct_fields__}


def test_hostile_text_is_text_wherever_it_is(full: Path, rewritten: Callable[..., None]) -> None:
    known = {tag for tag, _ in shown(full).elements}
    _hostile(full, rewritten)
    raw = render_page(full)
    page = Read(raw)
    # The two lists and the box for failures are all that a page with a failure has more.
    assert {tag for tag, _ in page.elements} <= known | {"strong"}
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert page.text.count("<script>alert(1)</script>") >= 20
    assert SEEN in page.text
    for never in ("<script", "<img", "\x1b", "\u202e", "\x00", "]]>"):
        assert never not in raw
    assert "{{ 7*7 }}" in page.text
    test_nothing_is_fetched_or_run_and_the_policy_allows_only_the_pages_own_style(full)


def test_a_flood_is_cut_and_its_end_is_seen(full: Path) -> None:
    size = 5_000_000
    (full / "agent" / "stdout").write_bytes(b"begin" + b"x" * size + b"finish")
    commands = [Executed(command=["yes"], at_seconds=0.0, stdout_bytes=size + 11)] + COMMANDS[1:2] * 1000
    write(full / "agent" / "trajectory.json", Trajectory(commands=commands))
    raw = render_page(full)
    assert len(raw) < 400_000
    page = Read(raw)
    assert "stdout begin" in page.words
    assert "bytes left out" in page.words
    assert "xfinish" in page.words
    assert "801 more commands" in page.words


def test_output_is_shown_where_nobody_wrote_down_the_commands(full: Path) -> None:
    (full / "agent" / "trajectory.json").unlink()
    page = shown(full)
    assert "stdout updated sleep stderr oops" in page.words


def test_an_agent_that_did_nothing(tmp_path: Path) -> None:
    seen = evidence()
    folder = whole(tmp_path / "run", type(seen)(**{**_fields(seen), "agent": agent(answered=False)}))
    shutil.rmtree(folder / "agent")
    page = shown(folder)
    assert "It ran and printed nothing that itbc saw." in page.words
    assert "The agent's answer none" in page.words
