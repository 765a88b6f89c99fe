"""Step 4: record the objects of the healthy environment that a repair must leave alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import ObjectState
from itbc.contracts.shape import Shape, read, write
from itbc.evaluators.probes.objects import snapshot
from itbc.runner.kubectl import Kubectl
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


@dataclass(frozen=True, slots=True)
class KubectlSource:
    """The objects of a cluster, for the snapshot probe."""

    kubectl: Kubectl

    def objects(self, kind: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        """All objects of a kind in a namespace. Raises StepFailed."""
        listing = self.kubectl.run(["get", kind.lower(), "-n", namespace, "-o", "json"])
        found: list[dict[str, Any]] = msgspec.json.decode(listing)["items"]
        return found


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
    sources = {each.cluster: KubectlSource(around.kubectl(each.kubeconfig)) for each in accesses}
    return [
        state
        for (cluster, namespace), kinds in sorted(wanted.items())
        for state in snapshot(sources[cluster], cluster, [namespace], sorted(kinds))
    ]
