"""When an object is ready, by its kind, judged by nothing but its own state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Thing = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Readiness:
    """`why` says what is still missing; `failed` that waiting longer won't help."""

    ready: bool
    why: str = ""
    failed: bool = False


_READY = Readiness(ready=True)


def readiness(thing: Thing) -> Readiness:
    """How ready an object is. A kind without a notion of readiness (Service, ConfigMap, …) is ready once it exists."""
    judge = _JUDGES.get(thing.get("kind", ""))
    return judge(thing) if judge else _READY


def _condition(thing: Thing, name: str) -> Thing:
    for condition in thing.get("status", {}).get("conditions") or ():
        if condition.get("type") == name:
            return dict(condition)
    return {}


def _is(thing: Thing, name: str) -> bool:
    return _condition(thing, name).get("status") == "True"


def _unseen(thing: Thing) -> bool:
    """Whether the controller hasn't looked at the newest version of the object yet."""
    return bool(thing.get("status", {}).get("observedGeneration", 0) < thing["metadata"].get("generation", 1))


def _counts(wanted: int, counts: Mapping[str, int]) -> Readiness:
    for what, count in counts.items():
        if count < wanted:
            return Readiness(ready=False, why=f"{count} of {wanted} {what}")
    return _READY


def _deployment(thing: Thing) -> Readiness:
    status, wanted = thing.get("status", {}), thing["spec"].get("replicas", 1)
    if _unseen(thing):
        return Readiness(ready=False, why="not yet seen by the deployment controller")
    progressing = _condition(thing, "Progressing")
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        return Readiness(ready=False, why=progressing.get("message", "the rollout is over its deadline"), failed=True)
    updated = status.get("updatedReplicas", 0)
    made = _counts(wanted, {"updated": updated, "available": status.get("availableReplicas", 0)})
    old = status.get("replicas", 0) - updated
    if made.ready and old > 0:
        return Readiness(ready=False, why=f"{old} of the old version still there")
    return made


def _stateful_set(thing: Thing) -> Readiness:
    status, spec = thing.get("status", {}), thing["spec"]
    wanted = spec.get("replicas", 1)
    if _unseen(thing):
        return Readiness(ready=False, why="not yet seen by the stateful set controller")
    ready = _counts(wanted, {"ready": status.get("readyReplicas", 0), "available": status.get("availableReplicas", 0)})
    strategy = spec.get("updateStrategy", {})
    if not ready.ready or strategy.get("type") == "OnDelete":
        return ready
    partition = (strategy.get("rollingUpdate") or {}).get("partition", 0)
    updated = status.get("updatedReplicas", 0)
    if status.get("updateRevision") == status.get("currentRevision"):
        return ready
    return _counts(max(wanted - partition, 0), {"updated": updated})


def _daemon_set(thing: Thing) -> Readiness:
    status = thing.get("status", {})
    if _unseen(thing):
        return Readiness(ready=False, why="not yet seen by the daemon set controller")
    return _counts(
        status.get("desiredNumberScheduled", 0),
        {"updated": status.get("updatedNumberScheduled", 0), "available": status.get("numberAvailable", 0)},
    )


def _job(thing: Thing) -> Readiness:
    if _is(thing, "Failed"):
        return Readiness(ready=False, why=_condition(thing, "Failed").get("message", "the job failed"), failed=True)
    if _is(thing, "Complete") or thing["spec"].get("suspend"):
        return _READY
    done = thing.get("status", {}).get("succeeded", 0)
    return Readiness(ready=False, why=f"{done} of {thing['spec'].get('completions') or 1} completed")


def _pod(thing: Thing) -> Readiness:
    phase = thing.get("status", {}).get("phase", "Pending")
    if phase == "Failed":
        return Readiness(ready=False, why=thing["status"].get("message", "the pod failed"), failed=True)
    if phase == "Succeeded" or _is(thing, "Ready"):
        return _READY
    return Readiness(ready=False, why=f"{phase.lower()}, not ready")


def _namespace(thing: Thing) -> Readiness:
    phase = thing.get("status", {}).get("phase", "unknown")
    return _READY if phase == "Active" else Readiness(ready=False, why=f"its phase is {phase}")


def _claim(thing: Thing) -> Readiness:
    phase = thing.get("status", {}).get("phase", "Pending")
    if phase == "Bound":
        return _READY
    return Readiness(ready=False, why=f"the claim is {phase.lower()}, not bound", failed=phase == "Lost")


def _definition(thing: Thing) -> Readiness:
    names = _condition(thing, "NamesAccepted")
    if names.get("status") == "False":
        return Readiness(ready=False, why=names.get("message", "its names aren't accepted"), failed=True)
    return _READY if _is(thing, "Established") else Readiness(ready=False, why="not established")


_JUDGES: Mapping[str, Callable[[Thing], Readiness]] = {
    "CustomResourceDefinition": _definition,
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
    "Job": _job,
    "Namespace": _namespace,
    "PersistentVolumeClaim": _claim,
    "Pod": _pod,
    "StatefulSet": _stateful_set,
}
