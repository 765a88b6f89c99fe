"""The figures of one run, read from its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any


def figures(run: Path) -> Mapping[str, float]:
    """Seconds by what they were spent on. Raises OSError and ValueError where the folder isn't that of a whole run."""
    steps = dict(map(_step, sorted((run / "steps").glob("*.json"))))
    evidence = json.loads((run / "evidence.json").read_text())
    agent, alert = steps["agent"], max(each["after_seconds"] for each in evidence["alerts"])
    applied = {stack.name: _applied(stack / "apply.log") for stack in (run / "terraform").iterdir() if stack.is_dir()}
    whole = sum(steps.values())
    return {
        "cluster up, with DNS": sum(seconds for name, seconds in applied.items() if name.startswith("cluster-")),
        "telemetry ready": sum(seconds for name, seconds in applied.items() if name.startswith("telemetry-")),
        "application ready": max(seconds for name, seconds in applied.items() if name.startswith("application-")),
        "provision, all stacks": steps["provision"],
        "healthy baseline seen": steps["baseline"],
        "fault injected and proven": steps["inject"],
        "fault to alert": alert,
        "agent": agent,
        "evaluate": steps["evaluate"],
        "destroy, proven empty": steps["destroy"],
        "whole life": whole,
        "whole life without agent, alert and evaluation": whole - agent - steps["alerting"] - steps["evaluate"],
    }


def _step(file: Path) -> tuple[str, float]:
    step: dict[str, Any] = json.loads(file.read_text())
    return str(step["name"]), float(step["seconds"])


def _applied(log: Path) -> float:
    """How long Terraform's apply of a stack took, in seconds, by its own event log."""
    times = [
        datetime.fromisoformat(event["@timestamp"])
        for line in log.read_text().splitlines()
        if (event := json.loads(line)) and "@timestamp" in event
    ]
    return (max(times) - min(times)).total_seconds()
