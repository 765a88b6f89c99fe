"""Step 5: break what is to be broken, and see that it is."""

from __future__ import annotations

from itbc.contracts.environment import Fault
from itbc.contracts.shape import Shape
from itbc.runner.failures import StepFailed
from itbc.runner.plays import PlayFailed, Plays
from itbc.runner.steps.access import Access, of_cluster
from itbc.runner.surroundings import Surroundings

PLAY_SECONDS = 300.0


class InjectingInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters."""

    accesses: list[Access]


class InjectingOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When the last change had been made (RFC 3339), and the faults whose effect was proven."""

    injected: str
    proven: list[str]


def injecting(step: InjectingInput, around: Surroundings) -> InjectingOutput:
    """Inject every fault, then prove every one. Raises StepFailed with the place of the fault that didn't work."""
    for fault in around.environment.faults:
        _play(fault, fault.inject, "the injection", step, around)
    injected = around.now()
    for fault in around.environment.faults:
        _play(fault, fault.prove, "the proof", step, around)
    return InjectingOutput(
        injected=injected.isoformat(timespec="milliseconds"), proven=[each.id for each in around.environment.faults]
    )


def _play(fault: Fault, play: str, what: str, step: InjectingInput, around: Surroundings) -> None:
    around.patience.check()
    access = of_cluster(step.accesses, fault.cluster)
    undo = around.run.ansible / "undo"
    undo.mkdir(mode=0o700, exist_ok=True)
    given = {"kubeconfig": access.kubeconfig, "undo_dir": str(undo)}
    plays = Plays(around.run.artefacts / "ansible", around.run.ansible, around.patience)
    try:
        plays.run(play, play.removesuffix(".yml"), given, around.tell, PLAY_SECONDS)
    except PlayFailed as wrong:
        raise StepFailed(
            "injection",
            f"{what} of fault {fault.id} ({fault.kind}) failed: {wrong}",
            "run with --keep and look at what it aims at with kubectl; Ansible's own output is under ansible/artifacts",
            fault.origin,
        ) from wrong
