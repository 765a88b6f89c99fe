"""The page itself: what the parts say, put into the templates. The same folder gives the same bytes."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from itbc.contracts.record import Failure
from itbc.contracts.shape import Origin
from itbc.results.naming import in_order, named
from itbc.results.report import plots, topology
from itbc.results.report.material import Material, gather
from itbc.results.report.scale import duration, number
from itbc.results.report.text import clean
from itbc.results.report.timeline import figures, make_timeline
from itbc.results.report.trajectory import story

_WHOSE = {
    "input": "the scenario's",
    "environment": "the environment's",
    "injection": "the injection's",
    "alert": "the alert's",
    "agent": "the agent's",
    "evaluation": "the evaluation's",
    "interrupted": "nobody's: the run was stopped on request",
    "itbc": "itbc's own: this is a bug",
}
_PACKAGE = "itbc.results.report"
_TEMPLATES = "templates"


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict in a word and a sentence; `mood` is `good`, `bad` or `odd`."""

    word: str
    sentence: str
    mood: str


def render_page(folder: Path) -> str:
    """The report of the run in a folder. Raises ContractError for a file that isn't what it should be."""
    material = gather(folder)
    style = importlib.resources.files(_PACKAGE).joinpath(_TEMPLATES, "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page: str = (
        _environment()
        .get_template("page.html.j2")
        .render(
            # Our own file, and no part of it is from outside.
            style=Markup(style),  # noqa: S704
            # Should something hostile get past the escaping after all, the browser still runs and fetches nothing.
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
            **_context(material),
        )
    )
    return page


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(_PACKAGE, _TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["duration"] = duration
    environment.filters["number"] = number
    return environment


def _shown(value: Any) -> Any:
    """Every text on its way into the page, whoever wrote it."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _context(material: Material) -> dict[str, Any]:
    record = material.run.record
    evaluation, environment = material.evaluation, material.environment
    return {
        "record": record,
        "began": f"{datetime.fromtimestamp(material.moments.begin, UTC):%Y-%m-%d %H:%M:%S} UTC",
        "score": material.run.score,
        "headline": headline(material),
        "figures": figures(material),
        "failure": record.failure,
        "whose": _WHOSE[record.failure.fault] if record.failure is not None else "",
        "place": place,
        "verdicts": in_order(material.run.score.verdicts if material.run.score is not None else ()),
        "timeline": make_timeline(material),
        "troubles": _troubles(material),
        "graph": topology.draw(material),
        "node": {"width": topology.NODE_WIDTH, "height": topology.NODE_HEIGHT},
        "causes": topology.causes(material),
        "chain": evaluation.truth.chain if evaluation is not None else (),
        "faults": environment.faults if environment is not None else (),
        "goal": environment.task.goal if environment is not None else "",
        "alerts": [(each, _labels(each.labels)) for each in material.alerts],
        "claims": topology.claims(material),
        "plots": plots.plots(material),
        "plot": {"width": plots.WIDTH, "height": plots.HEIGHT},
        "metrics": material.metrics,
        "agent": material.agent,
        "story": story(material),
    }


def headline(material: Material) -> Headline:
    """The verdict, or why there is none."""
    record, score = material.run.record, material.run.score
    if score is not None:
        sentence = f"Mitigation {score.mitigation:.2f}, diagnosis {score.diagnosis:.2f} ({named(score)})."
        return Headline("Passed", sentence, "good") if score.passed else Headline("Failed", sentence, "bad")
    if record.failure is not None:
        return Headline("Not scored", f"The run ended while {record.failure.stage}.", "odd")
    return Headline("Unfinished", f"The run is {record.state}.", "odd")


def place(origin: Origin | None) -> str:
    """A place in the scenario's files as editors take it; empty where there is none."""
    return "" if origin is None else f"{origin.file}:{origin.line}:{origin.column}"


def _labels(labels: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(labels.items()) if name != "alertname")


def _troubles(material: Material) -> list[str]:
    """What went wrong in steps besides the failure that ended the run, which is shown by itself."""
    first = material.run.record.failure
    found = [_trouble(step.failure) for step in material.steps if step.failure is not None and step.failure != first]
    for step in material.steps:
        if step.name == "destroy":
            for what in ("problems", "remaining"):
                found += [
                    f"{'still there: ' if what == 'remaining' else ''}{each}" for each in step.output.get(what, ())
                ]
    return list(dict.fromkeys(found))


def _trouble(failure: Failure) -> str:
    return f"{failure.stage}: {failure.message}"
