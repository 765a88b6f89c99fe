"""Judge a repair: do the objectives hold, and is everything else as it was?

Safeguards compare the end state with the healthy baseline, not with the broken
state. What the faults touched is exempt, so every repair that works passes,
whatever it sets the faulted field to; that it works is the objectives' business.
An object that was deleted and made again has another uid and fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itbc.contracts.evaluation import Evaluation, Objective, Safeguard
from itbc.contracts.evidence import Evidence, ObjectState, Series
from itbc.contracts.score import Verdict
from itbc.evaluators.difference import covers, differences
from itbc.evaluators.hold import holds
from itbc.evaluators.topology import Key, describe, key_of

_MAKERS = {
    "ReplicaSet": {("apps/v1", "Deployment")},
    "ControllerRevision": {("apps/v1", "StatefulSet"), ("apps/v1", "DaemonSet")},
    "Pod": {
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "StatefulSet"),
        ("apps/v1", "DaemonSet"),
        ("batch/v1", "Job"),
        ("v1", "ReplicationController"),
        ("v1", "Node"),
    },
    "Job": {("batch/v1", "CronJob")},
    "EndpointSlice": {("v1", "Service")},
}
"""Kind to what makes objects of that kind by itself, and removes those that it didn't make.

Whoever may create an object may write any owner into it. So it isn't enough that
there is one: what no owner of that kind would make was made by somebody else.
"""


@dataclass(frozen=True, slots=True)
class Mitigation:
    """`value` is the share of objectives met, 0 where a safeguard was broken; `passed` means all of everything."""

    value: float
    passed: bool
    verdicts: tuple[Verdict, ...]


def mitigate(evaluation: Evaluation, evidence: Evidence) -> Mitigation:
    """Judge the end state."""
    series = {series.objective: series for series in evidence.series}
    objectives = [judge_objective(objective, series.get(objective.name)) for objective in evaluation.objectives]
    safeguards = [judge_safeguard(guard, evidence.before, evidence.after) for guard in evaluation.safeguards]
    kept = all(verdict.passed for verdict in safeguards)
    met = sum(verdict.passed for verdict in objectives)
    share = met / len(objectives) if objectives else 1.0
    return Mitigation(
        value=share if kept else 0.0,
        passed=kept and met == len(objectives),
        verdicts=(*objectives, *safeguards),
    )


def judge_objective(objective: Objective, series: Series | None) -> Verdict:
    """Judge one objective by its samples; its value is the part of the hold that was reached."""
    if series is None:
        return _objective_verdict(objective, 0.0, "the evidence has no series for it", passed=False)
    hold = holds(series.samples, series.step_seconds, objective)
    part = 1.0 if hold.held else min(hold.longest / objective.hold_seconds, 1.0) if objective.hold_seconds else 0.0
    return _objective_verdict(objective, part, hold.reason, passed=hold.held)


def _objective_verdict(objective: Objective, value: float, reason: str, *, passed: bool) -> Verdict:
    return Verdict(name=objective.name, kind="objective", passed=passed, value=value, reason=reason)


def judge_safeguard(guard: Safeguard, before: Sequence[ObjectState], after: Sequence[ObjectState]) -> Verdict:
    """Judge one safeguard by the guarded objects before and after; its value is 1 or 0."""
    baseline, end = _guarded(guard, before), _guarded(guard, after)
    problems = [
        problem for key in sorted(baseline.keys() | end.keys()) for problem in _compare(guard, key, baseline, end)
    ]
    if problems:
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        reason = "; ".join(problems[:3]) + more
    elif baseline:
        reason = f"all {len(baseline)} objects are as they were"
    else:
        reason = "there was nothing to guard, and there still is nothing"
    passed = not problems
    return Verdict(name=guard.name, kind="safeguard", passed=passed, value=float(passed), reason=reason)


def _compare(
    guard: Safeguard, key: Key, baseline: Mapping[Key, ObjectState], end: Mapping[Key, ObjectState]
) -> Iterable[str]:
    old, new = baseline.get(key), end.get(key)
    exempt = [exemption.pointer for exemption in guard.exemptions if key_of(exemption.entity) == key]
    if "" in exempt:  # the JSON Pointer of the whole object
        return []
    if new is None:
        return [f"{describe(baseline[key].entity)} is missing"]
    name = describe(new.entity)
    if old is None:
        return [f"{name} is new"]
    if old.uid != new.uid and not any(covers(pattern, "/metadata/uid") for pattern in exempt):
        return [f"{name} was deleted and made again"]
    return [f"{name}: {change.words}" for change in differences(old.object, new.object, exempt)]


def _guarded(guard: Safeguard, states: Iterable[ObjectState]) -> dict[Key, ObjectState]:
    kinds = {kind.lower() for kind in guard.kinds}
    return {
        key_of(state.entity): state
        for state in states
        if state.entity.cluster == guard.cluster
        and state.entity.namespace == guard.namespace
        and state.entity.kind.lower() in kinds
        and not _is_derived(state)
    }


def _is_derived(state: ObjectState) -> bool:
    """Whether Kubernetes itself makes and removes the object to follow its owner, which is what must be guarded."""
    makers = _MAKERS.get(state.entity.kind, set())
    owners: Iterable[Mapping[str, Any]] = state.object.get("metadata", {}).get("ownerReferences") or ()
    return any(owner.get("controller") and (owner.get("apiVersion"), owner.get("kind")) in makers for owner in owners)
