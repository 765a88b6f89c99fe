"""Watch objectives in Prometheus from the agent's end until each of them is decided.

The whole stretch since the agent's end is asked for again each time, so that a
Prometheus that is slow or away for a moment loses nothing, and the samples that
decide are the samples that are recorded: `holds` gives the same verdict from
the evidence file.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from itbc.contracts.evaluation import Objective
from itbc.contracts.evidence import Sample, Series
from itbc.evaluators.hold import Hold, holds

T = TypeVar("T")


class ProbeError(Exception):
    """Prometheus can't be asked, or refuses the query: no verdict can be given. The message says which and why."""


class ProbeSilentError(ProbeError):
    """Prometheus didn't answer for as long as it was given."""


@dataclass(frozen=True, slots=True)
class Watching:
    """An objective that isn't decided yet, as it stands now; for showing progress."""

    objective: Objective
    hold: Hold


@dataclass(frozen=True, slots=True)
class Pace:
    """How samples are taken: how far apart, how long Prometheus may be silent, and the clocks; all in seconds."""

    step_seconds: float = 1.0
    patience_seconds: float = 20.0
    now: Callable[[], float] = time.time
    pause: Callable[[float], None] = time.sleep


def watch_objectives(
    objectives: Sequence[Objective],
    prometheus: Mapping[str, httpx.Client],
    ended: float,
    *,
    pace: Pace = Pace(),
    progress: Callable[[Sequence[Watching]], None] = lambda _: None,
    enough: Callable[[Sequence[Hold]], bool] = lambda _: False,
) -> list[Series]:
    """The samples of all objectives, up to where each of them was decided or `enough` says of all that it is.

    `prometheus` has a client for each cluster, its base URL that of the
    cluster's Prometheus; `ended` is the agent's end in Unix seconds by the
    clock of `pace`. `progress` is told of the undecided ones after each look;
    what it or `pace.pause` raises comes through, so both can stop the watch.
    Raises ProbeError.
    """
    starts = {cluster: ended + skew(prometheus[cluster], cluster, pace) for cluster in {o.cluster for o in objectives}}
    found: dict[str, Series] = {}
    open_: list[Watching] = [Watching(objective, holds([], pace.step_seconds, objective)) for objective in objectives]
    holding: dict[str, Hold] = {}
    while True:
        still: list[Watching] = []
        for objective in (watching.objective for watching in open_):
            at_most = objective.settle_seconds + objective.hold_seconds + 2 * pace.step_seconds
            seconds = min(pace.now() - ended, at_most)
            samples = samples_since(objective, prometheus[objective.cluster], starts[objective.cluster], seconds, pace)
            found[objective.name] = Series(objective=objective.name, step_seconds=pace.step_seconds, samples=samples)
            hold = holding[objective.name] = holds(samples, pace.step_seconds, objective)
            if not hold.decided and seconds < at_most:
                still.append(Watching(objective, hold))
        open_ = still
        if not open_ or enough(list(holding.values())):
            return [found[objective.name] for objective in objectives]
        progress(open_)
        pace.pause(pace.step_seconds)


def instant(client: httpx.Client, query: str) -> list[dict[str, Any]]:
    """The samples of an instant query: dictionaries with `metric` (the labels) and `value`. Raises ProbeError."""
    data = _ask(client, "/api/v1/query", {"query": query})
    if data["resultType"] == "scalar":
        return [{"metric": {}, "value": data["result"]}]
    return list(data["result"])


def ranged(client: httpx.Client, query: str, start: float, end: float, step: float) -> list[dict[str, Any]]:
    """The series of a range query: dictionaries with `metric` and `values`. Raises ProbeError."""
    parameters = {"query": query, "start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step:g}"}
    return list(_ask(client, "/api/v1/query_range", parameters)["result"])


def skew(client: httpx.Client, cluster: str, pace: Pace) -> float:
    """How far Prometheus' clock is ahead of ours in seconds, which for a cluster elsewhere need not be 0.

    It is 0 where its time lies between our asking and its answer: an answer
    that is slow to come says nothing about the clock. Raises ProbeError.
    """

    def ask() -> float:
        before = pace.now()
        theirs = float(instant(client, "time()")[0]["value"][1])
        after = pace.now()
        if before - pace.step_seconds <= theirs <= after + pace.step_seconds:
            return 0.0
        return theirs - (before + after) / 2

    return patiently(ask, f"Prometheus of cluster {cluster}", pace)


def samples_since(objective: Objective, client: httpx.Client, start: float, seconds: float, pace: Pace) -> list[Sample]:
    """One sample for each step of a stretch that begins at `start` (Unix, by Prometheus' clock); null for no value.

    Raises ProbeError.
    """
    count = int(max(seconds, 0.0) / pace.step_seconds) + 1
    step = pace.step_seconds
    where = f"objective {objective.name}: Prometheus of cluster {objective.cluster}"
    last = start + (count - 1) * step
    result = patiently(lambda: ranged(client, objective.query, start, last, step), where, pace)
    values = _worst(result, start, objective, pace)
    return [Sample(at=round(index * step, 3), value=values.get(index)) for index in range(count)]


def _worst(
    result: Sequence[Mapping[str, Any]], start: float, objective: Objective, pace: Pace
) -> dict[int, float | None]:
    """For each step the value that is farthest on the wrong side, where a query gives several series."""
    worse = max if objective.comparison.startswith("<") else min
    values: dict[int, float | None] = {}
    for series in result:
        for at, text in series["values"]:
            index, value = round((at - start) / pace.step_seconds), float(text)
            here = values.get(index, value)
            # Not a number (a share of nothing) and infinity say nothing about health and have no place in JSON.
            values[index] = (
                worse(here, value) if here is not None and math.isfinite(value) and math.isfinite(here) else None
            )
    return values


def _ask(client: httpx.Client, path: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    # POST, because a query can be longer than what an address may hold.
    response = client.post(path, data=parameters)
    if response.status_code in {400, 422}:
        raise ProbeError(f"refuses the query {parameters['query']!r}: {_error(response)}")
    response.raise_for_status()
    answer = response.json()
    return dict(answer["data"])


def _error(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        return response.text[:200]


def patiently(ask: Callable[[], T], where: str, pace: Pace) -> T:
    """Ask again for a while where Prometheus can't be reached, because a moment's silence is no verdict.

    Raises ProbeError, and ProbeSilentError when the while is over.
    """
    deadline = pace.now() + pace.patience_seconds
    while True:
        try:
            return ask()
        except ProbeError as refused:
            raise ProbeError(f"{where} {refused}") from refused
        except (httpx.HTTPError, ValueError, KeyError) as silent:
            if pace.now() >= deadline:
                seconds = f"{pace.patience_seconds:g}"
                raise ProbeSilentError(
                    f"{where} doesn't answer for {seconds} s: {type(silent).__name__} {silent}"
                ) from silent
        pace.pause(pace.step_seconds)
