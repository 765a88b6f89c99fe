"""The shipped agents, one a file, by the name that `--agent` takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from itbc.runner.agents.blame_all import BlameAll
from itbc.runner.agents.command import Command
from itbc.runner.agents.edit_telemetry import EditTelemetry
from itbc.runner.agents.noop import Noop
from itbc.runner.agents.recreate import Recreate
from itbc.runner.agents.restart_all import RestartAll
from itbc.runner.agents.scale_up import ScaleUp
from itbc.runner.agents.silence_alerts import SilenceAlerts
from itbc.runner.agents.solution import Solution, WrongSolution
from itbc.runner.agents.stop_load import StopLoad
from itbc.runner.sandbox.workplace import Agent, Script

CHEATS: Mapping[str, Callable[[Script], Agent]] = {
    "blame-all": BlameAll,
    "edit-telemetry": EditTelemetry,
    "recreate": Recreate,
    "restart-all": RestartAll,
    "scale-up": ScaleUp,
    "silence-alerts": SilenceAlerts,
    "stop-load": StopLoad,
}
"""The agents that must fail, whatever the scenario: docs/agents.md says why each must."""

SHIPPED: Mapping[str, Callable[[Script], Agent]] = {
    "noop": lambda _script: Noop(),
    "solution": Solution,
    **CHEATS,
}
"""The agents that scenarios are verified with."""

MCP = "mcp"
"""The agent that comes from outside."""

MUTANT = "mutant:"
"""What the names of agents that play a scenario's mutants begin with."""


class UnknownAgent(Exception):  # noqa: N818 - the name is the fact
    """There is no such agent. The message says what there is."""


def command_of(name: str, arguments: Sequence[str]) -> list[str]:
    """The command line of an agent, with its program's path made absolute; empty for a shipped agent and for `mcp`.

    Raises UnknownAgent for a name that is neither one of these nor a program's path.
    """
    if name in SHIPPED or name == MCP or name.startswith(MUTANT):
        if arguments:
            raise UnknownAgent(f"the agent {name} takes no arguments")
        return []
    command = list(arguments) if name == "command" else [name, *arguments]
    if not command:
        raise UnknownAgent("the agent `command` needs a command line: --agent command -- ./my-agent --flag")
    if name != "command" and os.sep not in name:
        raise UnknownAgent(
            f"no agent is called {name!r}: there are {', '.join(sorted(SHIPPED))}, "
            "the scenario's mutants (mutant:NAME), or the path of a program (./my-agent), "
            "`command` with a command line after --, or `mcp` for a client that connects"
        )
    if os.sep in command[0]:
        command[0] = os.path.abspath(command[0])  # noqa: PTH100 - resolve() would follow links, which programs look at
        if not os.path.isfile(command[0]) or not os.access(command[0], os.X_OK):  # noqa: PTH113 - it is text
            raise UnknownAgent(f"{command[0]} is no executable file")
    return command


def make_agent(name: str, command: Sequence[str], script: Script) -> Agent:
    """The agent of a run. `command` is what `command_of` gave, the name one that `check_mutant` has let pass."""
    if command:
        return Command(command)
    if name == MCP:
        from itbc.runner.agents.mcp import Mcp  # noqa: PLC0415 - a web server that only this one needs

        return Mcp()
    return WrongSolution(script, name.removeprefix(MUTANT)) if name.startswith(MUTANT) else SHIPPED[name](script)


def check_mutant(name: str, known: Sequence[str]) -> None:
    """Raise UnknownAgent for a mutant that the scenario doesn't have; `known` are the names of those it has."""
    if name.startswith(MUTANT) and name.removeprefix(MUTANT) not in known:
        there = ", ".join(f"{MUTANT}{each}" for each in known) or "none"
        raise UnknownAgent(f"the scenario has no {name}: there are {there}")
