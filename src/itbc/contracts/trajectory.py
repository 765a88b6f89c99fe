"""`agent/trajectory.json`: the programs that an agent ran through itbc, in their order."""

from __future__ import annotations

from typing import Literal

from itbc.contracts.shape import Shape


class Executed(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One program with the agent's rights.

    `at_seconds` is counted from the agent's beginning. `seconds` and
    `exit_code` are null where it was ended before its own end. `stdout_bytes`
    and `stderr_bytes` say how much it added to the agent's `stdout` and
    `stderr` files, which hold the output of all programs one after the other.
    """

    command: list[str]
    at_seconds: float
    seconds: float | None = None
    exit_code: int | None = None
    stdout_bytes: int = 0
    stderr_bytes: int = 0


class Trajectory(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent ran. A program agent is one command; what it starts itself isn't seen."""

    version: Literal["itbc.trajectory/1"] = "itbc.trajectory/1"
    commands: list[Executed] = []
