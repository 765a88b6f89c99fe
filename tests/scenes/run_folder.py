"""Run folders as the runner leaves them, made from the shop's evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from shop_scene import evaluation

from itbc.contracts.evidence import Evidence
from itbc.contracts.record import Failure, Record, Step
from itbc.contracts.shape import Origin, write
from itbc.evaluators import score


def step(number: int, name: str, **changes: Any) -> Step:
    values: dict[str, Any] = {
        "number": number,
        "name": name,
        "stage": "provisioning",
        "state": "done",
        "started": "2030-01-01T00:00:00Z",
        "ended": "2030-01-01T00:00:02Z",
        "seconds": 2.5,
    }
    return Step(**(values | changes))


def record(**changes: Any) -> Record:
    values: dict[str, Any] = {
        "run": "run-1",
        "scenario": "checkout-wrong-payment-address",
        "title": "Orders fail because checkout calls an address nobody listens on",
        "persona": "sre",
        "target": "embedded",
        "agent": "test",
        "artefacts": "artefacts",
        "seed": 7,
        "created": "2030-01-01T00:00:00Z",
        "expires": "2030-01-01T02:00:00Z",
        "state": "done",
        "destroyed": True,
    }
    return Record(**(values | changes))


ORIGIN = Origin(file="scenario.itb", line=12, column=3)


def failure(**changes: Any) -> Failure:
    values: dict[str, Any] = {
        "stage": "alerting",
        "fault": "alert",
        "message": "HighRequestErrorRate didn't fire within 180 s",
        "remedy": "look at the alert's expression",
        "origin": ORIGIN,
    }
    return Failure(**(values | changes))


def lay(folder: Path, seen: Evidence | None, *steps: Step, **changes: Any) -> Path:
    """Write a run's folder; scored where there is evidence."""
    (folder / "steps").mkdir(parents=True)
    (folder / "artefacts").mkdir()
    write(folder / "artefacts" / "evaluation.json", evaluation())
    for each in steps:
        write(folder / "steps" / f"{each.number:02}-{each.name}.json", each)
    result = None
    if seen is not None:
        result = score(evaluation(), seen)
        write(folder / "evidence.json", seen)
        write(folder / "score.json", result)
    write(folder / "record.json", msgspec.structs.replace(record(**changes), score=result))
    return folder
