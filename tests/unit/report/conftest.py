"""A run's folder with everything in it that a report can show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from run_folder import ORIGIN, failure, lay, step
from shop_scene import cause, evaluation, evidence, samples

from itbc.contracts.environment import Environment, Fault, Task
from itbc.contracts.evidence import Evidence
from itbc.contracts.metrics import Course, Metrics
from itbc.contracts.record import Step
from itbc.contracts.shape import to_builtins, write
from itbc.contracts.trajectory import Executed, Trajectory

ALERT = {
    "name": "HighRequestErrorRate",
    "labels": {"alertname": "HighRequestErrorRate", "namespace": "shop", "service": "frontend"},
    "after_seconds": 12.0,
}


def at(second: int) -> str:
    """A moment of the run, so many seconds after its beginning."""
    return f"2030-01-01T00:{second // 60:02}:{second % 60:02}+00:00"


def steps(seen: Evidence) -> list[Step]:
    """A whole life of two minutes: broken at 0:30, alert at 0:42, agent from 0:45 to 0:55."""
    agent = {"agent": to_builtins(seen.agent), "started": at(45), "ended": at(55)}
    plan: list[tuple[str, str, int, int, dict[str, Any]]] = [
        ("provision", "provisioning", 0, 15, {}),
        ("baseline", "healthy", 15, 25, {}),
        ("inject", "injecting", 25, 32, {"injected": at(30), "proven": ["wrong-address"]}),
        ("alerting", "alerting", 32, 42, {"alerts": [ALERT]}),
        ("agent", "working", 45, 55, agent),
        ("evaluate", "evaluating", 55, 110, {}),
        ("metrics", "evaluating", 110, 111, {}),
        ("destroy", "destroying", 111, 120, {"swept": [], "remaining": [], "problems": []}),
    ]
    return [
        step(number, name, stage=stage, started=at(begin), ended=at(end), seconds=float(end - begin), output=output)
        for number, (name, stage, begin, end, output) in enumerate(plan, 1)
    ]


def environment(**changes: Any) -> Environment:
    values: dict[str, Any] = {
        "scenario": "checkout-wrong-payment-address",
        "target": "embedded",
        "stacks": [],
        "clusters": [],
        "baseline": [],
        "faults": [
            Fault(
                id="wrong-address",
                kind="k8s.env.modified",
                cluster="shop",
                inject="i.yml",
                prove="p.yml",
                undo="u.yml",
                origin=ORIGIN,
            )
        ],
        "alerts": [],
        "task": Task(goal="Make orders work again.", within_seconds=900.0, grants=[]),
        "solution": [],
    }
    return Environment(**(values | changes))


COMMANDS = [
    Executed(command=["kubectl", "set", "env", "A=b c"], at_seconds=0.5, seconds=1.0, exit_code=0, stdout_bytes=8),
    Executed(command=["false"], at_seconds=2.0, seconds=0.1, exit_code=1, stderr_bytes=4),
    Executed(command=["sleep", "1d"], at_seconds=3.0, stdout_bytes=5),
]


def whole(folder: Path, seen: Evidence | None = None, **changes: Any) -> Path:
    """The folder of a run that got to its end."""
    seen = seen or evidence(cause("checkout"))
    lay(folder, seen, *steps(seen), **({"created": at(0)} | changes))
    write(folder / "artefacts" / "environment.json", environment())
    write(
        folder / "metrics.json",
        Metrics(
            run="run-1",
            scenario=seen.scenario,
            begin=at(15),
            step_seconds=1.0,
            courses=[Course(objective="orders-succeed", values=[None] * 5 + [0.0] * 12 + [0.3] * 43 + [0.0] * 35)],
        ),
    )
    (folder / "agent").mkdir()
    (folder / "agent" / "stdout").write_bytes(b"updated\nsleep")
    (folder / "agent" / "stderr").write_bytes(b"oops")
    write(folder / "agent" / "trajectory.json", Trajectory(commands=COMMANDS))
    return folder


def broken_off(folder: Path, **changes: Any) -> Path:
    """The folder of a run whose alert never fired."""
    wrong = failure(**changes)
    begun = steps(evidence())[:3]
    late = step(4, "alerting", stage="alerting", state="failed", started=at(32), ended=at(90), failure=wrong)
    return lay(folder, None, *begun, late, state="failed", failure=wrong, created=at(0))


@pytest.fixture
def full(tmp_path: Path) -> Path:
    return whole(tmp_path / "run")


@pytest.fixture
def rewritten() -> Callable[..., None]:
    """Changes fields of a JSON file of a shape."""

    def rewrite(path: Path, kind: type[Any], **changes: Any) -> None:
        shape = msgspec.json.decode(path.read_bytes(), type=kind)
        write(path, msgspec.structs.replace(shape, **changes))

    return rewrite


__all__ = ["ALERT", "at", "broken_off", "evaluation", "samples", "whole"]
