"""Whether a cluster and its telemetry went on without a break while an agent worked and was judged.

A program of a cluster's own that ended is started again, and a few seconds later nothing shows any more that pods
weren't watched, alerts were forgotten, or samples are missing. So it is compared which processes they are.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import httpx

from itbc.evaluators.probes.series import Pace, ProbeError
from itbc.evaluators.probes.silence import longest_silence
from itbc.providers.services import ClusterPlace, ProgramsUnknown
from itbc.runner.failures import StepFailed
from itbc.runner.steps.access import Access
from itbc.runner.surroundings import Surroundings
from itbc.runner.waiting import TooLate

Processes = Mapping[str, Mapping[str, str]]
"""For each cluster its programs, and which process each of them is (see `providers.services.Running`)."""

RUNNING_SECONDS = 30.0
"""How long a program that has just ended may take to run again before the agent is let in."""

SILENCE_SECONDS = 20.0
"""How long Prometheus may have stored nothing: one that scrapes at least every 10 s never does so for that long."""

_REMEDY = "run again: this run says nothing about the agent"
_SCARCE = 256 * 1024 * 1024
"""Bytes free below which a full disk is named as what may be behind it: programs that end give some back."""


def all_running(found: Iterable[Access], around: Surroundings) -> dict[str, dict[str, str]]:
    """Which processes the clusters' programs are, once all of them run. Raises StepFailed."""
    accesses = list(found)

    def probe() -> dict[str, dict[str, str]] | None:
        seen = processes(accesses, around)
        return None if any(not process for each in seen.values() for process in each.values()) else seen

    try:
        return around.patience.until(probe, RUNNING_SECONDS)
    except TooLate as late:
        down = [
            f"{name} of cluster {cluster}"
            for cluster, programs in processes(accesses, around).items()
            for name, process in programs.items()
            if not process
        ]
        raise StepFailed("environment", f"not running for {RUNNING_SECONDS:g} s: {', '.join(down)}") from late


def processes(found: Iterable[Access], around: Surroundings) -> dict[str, dict[str, str]]:
    """Which processes the clusters' programs are right now. Raises StepFailed."""
    look = around.tools.running[around.environment.target]
    try:
        return {
            each.cluster: dict(look(ClusterPlace(each.cluster, around.run.clusters, Path(each.kubeconfig))))
            for each in found
        }
    except ProgramsUnknown as wrong:
        raise StepFailed("environment", str(wrong), _remedy(around.home.root)) from wrong


def unbroken(before: Processes, found: Iterable[Access], around: Surroundings) -> None:
    """Raise StepFailed where a program has ended since `before`, whether it runs again or not."""
    lapsed = lapses(before, processes(found, around))
    if lapsed:
        raise StepFailed(
            "environment",
            f"the environment had an outage while the run went on: {'; '.join(lapsed)}",
            _remedy(around.home.root),
        )


def lapses(before: Processes, now: Processes) -> list[str]:
    """What ended between two looks, in words."""
    found: list[str] = []
    for cluster, programs in sorted(before.items()):
        for name, process in sorted(programs.items()):
            current = now.get(cluster, {}).get(name, "")
            if current != process:
                end = "ended and was started again" if current else "ended and doesn't run"
                found.append(f"{name} of cluster {cluster} {end}")
    return found


def heard(prometheus: Mapping[str, httpx.Client], begin: float, around: Surroundings, pace: Pace) -> None:
    """Raise StepFailed where a Prometheus has stored nothing for a while since `begin` (Unix seconds)."""
    for cluster, client in sorted(prometheus.items()):
        try:
            silence = longest_silence(client, cluster, begin, pace)
        except ProbeError as wrong:
            raise StepFailed("environment", str(wrong), _remedy(around.home.root)) from wrong
        if silence > SILENCE_SECONDS:
            raise StepFailed(
                "environment",
                f"Prometheus of cluster {cluster} stored no samples for {silence:.0f} s while the run went on",
                _remedy(around.home.root),
            )


def _remedy(home: Path) -> str:
    free = shutil.disk_usage(home).free
    if free >= _SCARCE:
        return _REMEDY
    return f"{_REMEDY}; only {free // 1024 // 1024} MiB are free at {home}: free some before"
