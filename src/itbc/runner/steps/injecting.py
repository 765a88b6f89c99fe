"""Step 5: break what is to be broken, and see that it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from itbc.contracts.environment import Fault
from itbc.contracts.shape import Shape
from itbc.runner.failures import StepFailed
from itbc.runner.outside.plays import PlayFailed, Plays
from itbc.runner.steps.access import Access
from itbc.runner.surroundings import Surroundings

PLAYS_SECONDS = 300.0
"""How long a play may take."""


class InjectingInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters."""

    accesses: list[Access]


class InjectingOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When the last change had been made (RFC 3339), and the faults whose effect was proven."""

    injected: str
    proven: list[str]


def injecting(step: InjectingInput, around: Surroundings) -> InjectingOutput:
    """Inject every fault, then prove every one. Raises StepFailed with the place of the fault that didn't work."""
    injected = around.now()
    for access in step.accesses:
        faults = [each for each in around.environment.faults if each.cluster == access.cluster]
        if faults:
            injected = _break(faults, access, around)
    return InjectingOutput(
        injected=injected.isoformat(timespec="milliseconds"), proven=[each.id for each in around.environment.faults]
    )


def _break(faults: Sequence[Fault], access: Access, around: Surroundings) -> datetime:
    """Inject and prove the faults of one cluster. Returns when the last change had been made."""
    around.patience.check()
    undo = around.run.ansible / "undo"
    undo.mkdir(mode=0o700, exist_ok=True)
    order = [("the injection", fault, fault.inject) for fault in faults]
    order += [("the proof", fault, fault.prove) for fault in faults]
    changed = around.now()

    def on_playbook(number: int) -> None:
        nonlocal changed
        what, fault, _ = order[number]
        if number == len(faults):
            changed = around.now()
        around.tell(f"{what} of {fault.id}")

    plays = Plays(around.run.artefacts / "ansible", around.run.ansible, around.patience)
    try:
        plays.run(
            f"inject-{access.cluster}",
            [playbook for _, _, playbook in order],
            {"kubeconfig": access.kubeconfig, "undo_dir": str(undo)},
            on_playbook=on_playbook,
            tell=around.tell,
            seconds=PLAYS_SECONDS * len(order),
        )
    except PlayFailed as wrong:
        what, fault, _ = order[wrong.playbook]
        raise StepFailed(
            "injection",
            f"{what} of fault {fault.id} ({fault.kind}) failed: {wrong}",
            "run with --keep and look at what it aims at with kubectl; Ansible's own output is under ansible/artifacts",
            fault.origin,
        ) from wrong
    return changed
