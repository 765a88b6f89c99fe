"""What a user grants an agent besides what its scenario does: variables of their own, and addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from itbc.cli.exits import Exit, ExitError
from itbc.runner.sandbox.network import MOST_ADDRESSES, Address, Unresolved, WrongAddress, make_network, parse
from itbc.runner.sandbox.redaction import SHORTEST
from itbc.runner.sandbox.workplace import is_own

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Granted:
    """Names of variables, and addresses."""

    variables: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = ()


def granting(command: _Command) -> _Command:
    """Give a verb the options `--agent-env` and `--agent-net`, as parameters `agent_env` and `agent_net`."""
    network = click.option(
        "--agent-net",
        metavar="HOST:PORT",
        multiple=True,
        callback=_addresses,
        help="An address that the agent may reach besides its clusters, over TCP; may be given several times.",
    )
    variables = click.option(
        "--agent-env",
        metavar="NAME",
        multiple=True,
        callback=_variables,
        help="A variable of your environment that the agent gets; its value is kept out of all that is recorded. "
        "May be given several times.",
    )
    return variables(network(command))


def granted(variables: tuple[str, ...], addresses: tuple[Address, ...], arguments: Sequence[str] = ()) -> Granted:
    """What the two options say, once it is certain that it can be given.

    `arguments` is the agent's command line. Raises ExitError where that holds
    a value that is to be kept out of the record, or a name has no address.
    """
    for name in variables:
        value = os.environ[name]
        if len(value) < SHORTEST:
            click.echo(
                f"warning: the value of {name} has less than {SHORTEST} characters, "
                "so it is not kept out of what is recorded",
                err=True,
            )
        elif any(value in each for each in arguments):
            raise ExitError(
                Exit.USAGE,
                f"the agent's command line holds the value of {name}, and command lines are recorded",
                f"let the agent take it from its environment, where --agent-env {name} puts it",
            )
    try:
        make_network(addresses)
    except Unresolved as wrong:
        raise ExitError(Exit.OUTSIDE, str(wrong), "check the name after --agent-net, or give an IP address") from wrong
    return Granted(variables, addresses)


def _variables(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Raises BadParameter for what the agent can't be given."""
    for name in names:
        if not _NAME.fullmatch(name):
            # What was given may be NAME=VALUE, and the value a secret: it isn't said again.
            shown = name.partition("=")[0]
            raise click.BadParameter(
                f"{shown!r}: give the name alone; the value is taken from your environment."
                if "=" in name
                else f"{name!r} is no variable's name."
            )
        if is_own(name):
            raise click.BadParameter(f"{name} is one that itbc sets for the agent itself.")
        if not os.environ.get(name):
            state = "empty" if name in os.environ else "not set"
            raise click.BadParameter(f"{name} is {state} in your environment: export it first.")
    return tuple(dict.fromkeys(names))


def _addresses(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> tuple[Address, ...]:
    """Raises BadParameter for what is no address."""
    try:
        found = tuple(dict.fromkeys(parse(text) for text in texts))
    except WrongAddress as wrong:
        raise click.BadParameter(f"{wrong}.") from wrong
    if len(found) > MOST_ADDRESSES:
        raise click.BadParameter(f"an agent can be granted {MOST_ADDRESSES} addresses, not {len(found)}.")
    return found
