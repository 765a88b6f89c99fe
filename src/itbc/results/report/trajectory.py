"""What the agent ran and printed, each part cut to a length that can be read."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from itbc.results.report.material import Material
from itbc.results.report.scale import clock, duration
from itbc.results.report.text import Excerpt, excerpt

MOST_BYTES = 16 * 1024
"""Of each stream of each command."""
MOST_COMMANDS = 200
MOST_LETTERS = 2000
"""Of a command line."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A command with what it printed. `ended` is in words; `command` is empty where it isn't known what was run."""

    command: str
    at: str
    ended: str
    is_bad: bool
    stdout: Excerpt
    stderr: Excerpt


@dataclass(frozen=True, slots=True)
class Story:
    """All commands that are shown, and how many are not."""

    commands: tuple[Shown, ...]
    omitted: int


def story(material: Material) -> Story:
    """The agent's trajectory; empty where no agent worked."""
    folder = material.run.folder / "agent"
    if material.trajectory is None or not material.trajectory.commands:
        return Story(_streams_alone(folder), 0)
    shown: list[Shown] = []
    out, err = 0, 0
    commands = material.trajectory.commands
    for each in commands:
        if len(shown) < MOST_COMMANDS:
            line = shlex.join(each.command)
            shown.append(
                Shown(
                    command=line if len(line) <= MOST_LETTERS else line[:MOST_LETTERS] + "…",
                    at=clock(each.at_seconds),
                    ended=_ended(each.seconds, each.exit_code),
                    is_bad=each.exit_code != 0,
                    stdout=excerpt(folder / "stdout", out, each.stdout_bytes, MOST_BYTES),
                    stderr=excerpt(folder / "stderr", err, each.stderr_bytes, MOST_BYTES),
                )
            )
        out += each.stdout_bytes
        err += each.stderr_bytes
    return Story(tuple(shown), len(commands) - len(shown))


def _ended(seconds: float | None, code: int | None) -> str:
    if seconds is None:
        return "ended before its own end"
    return f"exit code {code} after {duration(seconds)}"


def _streams_alone(folder: Path) -> tuple[Shown, ...]:
    """What was printed in all, of a run that doesn't say by which command."""
    stdout, stderr = (_whole(folder / name) for name in ("stdout", "stderr"))
    if stdout.is_empty and stderr.is_empty:
        return ()
    return (Shown(command="", at="", ended="", is_bad=False, stdout=stdout, stderr=stderr),)


def _whole(path: Path) -> Excerpt:
    return excerpt(path, 0, path.stat().st_size, 4 * MOST_BYTES) if path.is_file() else Excerpt("")
