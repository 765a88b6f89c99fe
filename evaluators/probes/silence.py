"""For how long a Prometheus has stored nothing, by the samples it makes itself about everything it scrapes."""

from __future__ import annotations

import math

import httpx

from itbc.evaluators.probes.series import Pace, ProbeError, patiently, ranged, skew

_MOST_POINTS = 10_000
"""Prometheus gives at most 11,000 points of a range."""

_AGE = "time() - max(timestamp(up))"


def longest_silence(client: httpx.Client, cluster: str, begin: float, pace: Pace) -> float:
    """The longest time in seconds without any target's sample, from `begin` (Unix, by the clock of `pace`) until now.

    It may really be longer by a step of `pace` (by 1/10,000 of a stretch that is long). Infinite where there
    was none for minutes. Raises ProbeError where Prometheus doesn't answer.
    """
    start = begin + skew(client, cluster, pace)
    seconds = max(pace.now() - begin, 0.0)
    few = pace.step_seconds * _MOST_POINTS >= seconds
    step = pace.step_seconds if few else math.ceil(seconds / _MOST_POINTS)
    count = int(seconds / step) + 1
    where = f"Prometheus of cluster {cluster}"
    series = patiently(lambda: ranged(client, _AGE, start, start + (count - 1) * step, step), where, pace)
    if len(series) > 1:
        raise ProbeError(f"{where} gave {len(series)} series for {_AGE!r}")
    ages = {round((at - start) / step): float(text) for each in series for at, text in each["values"]}
    return max(ages.get(index, math.inf) for index in range(count))
