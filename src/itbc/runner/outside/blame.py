"""Turns what an outside tool complains about into a failure with its place in the `.itb` file."""

from __future__ import annotations

from collections.abc import Mapping

from itbc.contracts.shape import Origin
from itbc.runner.failures import Interrupted, StepFailed
from itbc.runner.outside.terraform import Diagnostic, TerraformError, TerraformInterrupted, TerraformTimeout


def blame_terraform(error: TerraformError, stack: str, origins: Mapping[str, Origin]) -> StepFailed:
    """The failure that a terraform error means for a run: the environment's, never the agent's."""
    if isinstance(error, TerraformInterrupted):
        return Interrupted(f"{error.what} in stack {stack}, on request")
    message = f"{error.what} in stack {stack}"
    details = [_sentence(each) for each in error.diagnostics]
    if details:
        message += ": " + "; ".join(details)
    places = (origins.get(f"{stack}/{_plain(each.address)}") for each in error.diagnostics if each.address)
    origin = next((place for place in places if place is not None), None)
    remedy = f"read logs in the run's folder under terraform/{stack}; `itbc doctor` says what this machine lacks"
    if isinstance(error, TerraformTimeout):
        remedy = f"is the machine busy? run again with more time, or {remedy}"
    return StepFailed("environment", message, remedy, origin)


def _plain(address: str) -> str:
    """A resource's address without its index: `TYPE.NAME["x"]` is `TYPE.NAME`."""
    return address.partition("[")[0]


def _sentence(diagnostic: Diagnostic) -> str:
    detail = " ".join(diagnostic.detail.split())
    return f"{diagnostic.summary}: {detail}" if detail else diagnostic.summary
