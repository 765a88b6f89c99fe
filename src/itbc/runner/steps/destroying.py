"""Step 9: take everything down, whatever stands of it."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.contracts.environment import Stack
from itbc.contracts.shape import Shape
from itbc.runner.leftovers.ledger import leftovers
from itbc.runner.leftovers.sweeping import sweep
from itbc.runner.ordering import in_order, reversed_needs
from itbc.runner.outside.terraform import Terraform, TerraformError
from itbc.runner.sandbox.programs import PROCESS_KIND
from itbc.runner.steps.provision import ProvisionOutput, telling, variables
from itbc.runner.surroundings import Surroundings

STACK_SECONDS = 300.0


class DestroyingInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The stacks that may have been applied, and what is known of their outputs."""

    stacks: list[str]
    outputs: dict[str, dict[str, str]]


class DestroyingOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What Terraform removed nothing of but a sweep did, what couldn't be removed, and what went wrong on the way."""

    swept: list[str]
    remaining: list[str]
    problems: list[str]


def destroying(step: DestroyingInput, around: Surroundings) -> DestroyingOutput:
    """Destroy every stack after those that need it, then sweep by the ledger what is left.

    Never stops at a failure: it is told.
    """
    problems: list[str] = []
    swept: list[str] = []
    ledger = around.home.ledger(around.run.name)
    given_up = around.last_patience.stop.is_set
    # The agent first: it must not see the environment go, nor change what is being removed.
    agents = [each for each in leftovers(ledger) if each.kind == PROCESS_KIND]
    swept += sweep(agents, around.tools.sweepers, around.ledger).removed
    present = [each for each in step.stacks if around.module(each).state.exists()]
    if present:
        try:
            problems += _stacks(present, step, around)
        except OSError as wrong:
            # Terraform needs room for its logs and states. The sweep below doesn't.
            problems.append(f"terraform can't be run: {wrong}")
    if given_up():
        problems.append("given up on request")
    else:
        rest = sweep(leftovers(ledger), around.tools.sweepers, around.ledger)
        swept += rest.removed
        problems += rest.failed
    remaining = [f"{each.kind} {each.identity}" for each in leftovers(ledger)]
    return DestroyingOutput(swept=swept, remaining=remaining, problems=problems)


def _stacks(present: Sequence[str], step: DestroyingInput, around: Surroundings) -> list[str]:
    """Destroy the stacks that have a state. Returns what went wrong; raises OSError where nothing can be written."""
    problems: list[str] = []
    with around.terraform(around.last_patience) as terraform:

        def destroy(stack: str) -> None:
            if not around.last_patience.stop.is_set():
                around.tell(f"stack {stack}")
                problems.extend(_destroy(terraform, stack, step, around))

        in_order(order([each for each in around.environment.stacks if each.id in present]), destroy)
    return problems


def order(stacks: Sequence[Stack]) -> dict[str, list[str]]:
    """What each stack waits for: those that need it, but for those that live in it, which wait for it instead."""
    waits = reversed_needs({each.id: each.needs for each in stacks})
    for each in stacks:
        if each.lives_in in waits:
            waits[each.lives_in] = [other for other in waits[each.lives_in] if other != each.id]
            waits[each.id] = [each.lives_in]
    return waits


def _destroy(terraform: Terraform, stack: str, step: DestroyingInput, around: Surroundings) -> list[str]:
    """Destroy one stack. A stack whose things can't be asked any more is destroyed from its state alone."""
    module = around.module(stack)
    spec = next(each for each in around.environment.stacks if each.id == stack)
    # Destroying needs a value for each variable, but only the state says what is there.
    known = {each.id: dict(step.outputs.get(each.id, {})) for each in around.environment.stacks}
    for reference in spec.inputs.values():
        source, _, name = reference.partition(".")
        known[source].setdefault(name, "")
    given = variables(around, spec, ProvisionOutput(outputs=known).outputs)
    listen = telling(stack, around.tell)
    problems: list[str] = []
    for refresh in (True, False):
        try:
            terraform.init(module)
            terraform.destroy(module, given, listen, STACK_SECONDS, refresh=refresh)
        except TerraformError as error:
            said = "; ".join(dict.fromkeys(f"{each.summary}: {each.detail}".strip(": ") for each in error.diagnostics))
            problems.append(f"stack {stack}: {error.what}" + (f": {said}" if said else ""))
            if around.last_patience.stop.is_set():
                break
            continue
        return []
    return problems
