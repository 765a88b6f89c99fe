"""Step 1: bring the environment up, stack by stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from itbc.contracts.environment import Stack
from itbc.contracts.mask import joined
from itbc.contracts.shape import Shape
from itbc.runner.failures import StepFailed
from itbc.runner.ordering import in_order
from itbc.runner.outside.blame import blame_terraform
from itbc.runner.outside.terraform import Json, Terraform, TerraformError
from itbc.runner.surroundings import Surroundings

STACK_SECONDS = 900.0
"""How long one stack's apply may take on a busy machine."""


class ProvisionInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which stacks to apply."""

    stacks: list[str]


class ProvisionOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outputs of every stack: `outputs[STACK][NAME]`."""

    outputs: dict[str, dict[str, str]]

    def value(self, reference: str) -> str:
        """The value of `STACK.OUTPUT`. Raises StepFailed where there is none."""
        stack, _, name = reference.partition(".")
        try:
            return self.outputs[stack][name]
        except KeyError as wrong:
            raise StepFailed("itbc", f"no stack has the output {reference}") from wrong


def variables(around: Surroundings, stack: Stack, outputs: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The Terraform variables of a stack: what differs from run to run, and the outputs of earlier stacks."""
    given = {
        "run_id": around.run.name,
        "state_dir": str(around.run.clusters),
        "cache_dir": str(around.home.cache),
        "expires": around.expires,
        "masks": joined(
            mask for each in around.environment.clusters if each.telemetry == stack.id for mask in around.masks(each)
        ),
    }
    known = ProvisionOutput(outputs={name: dict(values) for name, values in outputs.items()})
    return given | {name: known.value(reference) for name, reference in stack.inputs.items()}


def provision(step: ProvisionInput, around: Surroundings) -> ProvisionOutput:
    """Apply every stack and collect its outputs. Raises StepFailed with the place in the `.itb` file."""
    outputs: dict[str, dict[str, str]] = {}
    stacks = {each.id: each for each in around.environment.stacks if each.id in step.stacks}
    with around.terraform(around.patience) as terraform:

        def apply(name: str) -> None:
            around.patience.check()
            around.tell(f"stack {name}")
            try:
                outputs[name] = _apply(terraform, around, stacks[name], outputs)
            except TerraformError as error:
                raise blame_terraform(error, name, around.origins) from error

        in_order({each.id: each.needs for each in stacks.values()}, apply)
    return ProvisionOutput(outputs=outputs)


def _apply(
    terraform: Terraform, around: Surroundings, stack: Stack, outputs: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    module = around.module(stack.id)
    terraform.init(module)
    terraform.apply(module, variables(around, stack, outputs), telling(stack.id, around.tell), STACK_SECONDS)
    return {name: _text(value) for name, value in terraform.outputs(module).items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def telling(stack: str, tell: Callable[[str], None]) -> Callable[[Json], None]:
    """A listener that turns Terraform's events into lines of progress: how many of how many, and which."""
    total = 0
    done = 0

    def listen(event: Json) -> None:
        nonlocal total, done
        kind = event.get("type")
        if kind == "change_summary":
            changes = event["changes"]
            total = changes["add"] + changes["change"] + changes["remove"]
        elif kind == "apply_start":
            tell(f"stack {stack}: {done} of {total}, {event['hook']['resource']['addr']}")
        elif kind == "apply_complete":
            done += 1

    return listen
