"""`--mask`: what a run's agent must not see, besides what its scenario hides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from itbc.cli.exits import Exit, ExitError
from itbc.contracts.environment import Environment
from itbc.contracts.mask import BadMask, Mask, parse_mask


def mask_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option, the same for every verb that makes runs; its parameter is `masks`."""
    return click.option(
        "--mask",
        "masks",
        multiple=True,
        metavar="KIND[:COMPONENT]",
        help="Hide alerts, events, logs, metrics, the topology or traces from the agent, all of them or one "
        "component's (logs, metrics, traces). Can be given several times.",
    )(command)


def masks_for(texts: Sequence[str], environment: Environment) -> list[Mask]:
    """The masks that the user gave, made for this environment. Raises ExitError for what hides nothing."""
    return sorted({_mask(text, environment) for text in texts})


def _mask(text: str, environment: Environment) -> Mask:
    try:
        mask = parse_mask(text)
    except BadMask as wrong:
        raise ExitError(Exit.USAGE, f"--mask {text}: {wrong}", wrong.help) from wrong
    collected = {signal for cluster in environment.clusters for signal in cluster.signals}
    if mask.kind not in {*collected, "events", "topology"}:
        there = ", ".join(sorted(collected)) or "nothing"
        raise ExitError(Exit.USAGE, f"--mask {text}: the scenario collects no {mask.kind}", f"it collects {there}")
    components = [each.name for each in environment.task.topology]
    if mask.service and mask.service not in components:
        raise ExitError(
            Exit.USAGE,
            f"--mask {text}: the scenario has no component {mask.service}",
            f"its components are {', '.join(components)}",
        )
    return mask
