"""Step 4: record the objects of the healthy environment that a repair must leave alone."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import ObjectState
from itbc.contracts.shape import Shape, read, write
from itbc.evaluators.probes.objects import snapshot
from itbc.runner.steps.access import Access
from itbc.runner.surroundings import Surroundings


class RecordingInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters."""

    accesses: list[Access]


class RecordingOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many objects were recorded in `before.json`."""

    objects: int


class Objects(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`before.json`."""

    objects: list[ObjectState]


def recording(step: RecordingInput, around: Surroundings) -> RecordingOutput:
    """Write `before.json`. Raises StepFailed."""
    objects = seen_objects(step.accesses, around)
    write(around.run.before, Objects(objects=objects))
    return RecordingOutput(objects=len(objects))


def seen_objects(accesses: Sequence[Access], around: Surroundings) -> list[ObjectState]:
    """All objects that a safeguard is about, as they are now. Raises StepFailed."""
    evaluation = read(around.run.artefacts / "evaluation.json", Evaluation)
    wanted: dict[tuple[str, str], set[str]] = {}
    for safeguard in evaluation.safeguards:
        wanted.setdefault((safeguard.cluster, safeguard.namespace), set()).update(safeguard.kinds)
    states: list[ObjectState] = []
    for access in accesses:
        with around.cluster(access.cluster, access.kubeconfig) as client:
            for (cluster, namespace), kinds in sorted(wanted.items()):
                if cluster == access.cluster:
                    states += snapshot(client, cluster, [namespace], sorted(kinds))
    return states
