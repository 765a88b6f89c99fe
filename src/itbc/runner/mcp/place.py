"""What the tools do their work by: the agent's own workplace, one call at a time, all of it written down."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from mcp.server.mcpserver.exceptions import ToolError

from itbc.runner.failures import Interrupted
from itbc.runner.sandbox.programs import NoSandbox, OutOfTime
from itbc.runner.sandbox.streams import OUTPUT_LIMIT
from itbc.runner.sandbox.trajectory import STDOUT, Following
from itbc.runner.sandbox.workplace import Workplace

LONGEST = 60_000
"""How many characters of an answer are handed back; a model has use for no more at once."""

LONGEST_SECONDS = 600.0
ANSWER_SECONDS = 30.0
"""How long what answers queries may take."""


@dataclass(frozen=True, slots=True)
class Place:
    """A workplace that is reached from outside. Calls come from several threads and are done one after the other."""

    workplace: Workplace
    submitted: threading.Event = field(default_factory=threading.Event)
    _one: threading.Lock = field(default_factory=threading.Lock)

    def url(self, variable: str) -> str:
        """The base URL that a command agent would find in an environment variable; empty where it has none."""
        return self.workplace.sandbox.environment.get(variable, "")

    def run(self, command: Sequence[str], stdin: str = "", seconds: float = ANSWER_SECONDS) -> str:
        """Run a program with the agent's user and rights. Returns what it printed and, but for 0, its exit code.

        Raises ToolError where it can't be run, or takes longer than it may.
        """
        if any("\0" in word for word in command):
            raise ToolError("no word of a command line can hold a NUL")
        at_most = min(seconds, LONGEST_SECONDS)
        with self._one:
            self._check_time()
            now = self.workplace.patience.monotonic()
            place = replace(self.workplace, deadline=min(self.workplace.deadline, now + at_most))
            try:
                ended = place.execute(_merged(command), stdin.encode())
            except OutOfTime as late:
                raise ToolError(f"it was ended after {at_most:g} s; give it more `seconds`, or less to do") from late
            except (NoSandbox, Interrupted) as wrong:
                raise ToolError(str(wrong) or "the run is being stopped") from wrong
        text = ended.output.decode(errors="replace")
        return shortened(text if ended.code == 0 else f"{text.rstrip()}\n(exit code {ended.code})")

    def ask(self, tool: str, base: str, path: str, given: Mapping[str, Any]) -> Any:
        """Ask one of the addresses that the agent is shown. Returns its JSON, or its text where it is none.

        Only the parameters are the agent's: nothing else of this machine can be
        asked that way. Raises ToolError with the answer's words where it is an error.
        """
        parameters = {name: value for name, value in given.items() if value not in ("", None)}
        command = [tool, json.dumps(parameters, sort_keys=True)]
        with self._one, self._following().program(command) as ended_with:
            self._check_time()
            try:
                answer = httpx.get(f"{base}{path}", params=parameters, timeout=ANSWER_SECONDS, trust_env=False)
            except httpx.HTTPError as wrong:
                ended_with(1)
                raise ToolError(f"no answer: {wrong}") from wrong
            self._keep(answer.content)
            ended_with(0 if answer.is_success else 1)
        if not answer.is_success:
            raise ToolError(shortened(answer.text) or f"it answers {answer.status_code}")
        try:
            return answer.json()
        except ValueError:
            return answer.text

    def hand_in(self, causes: Sequence[Mapping[str, str]], explanation: str) -> None:
        """Write the answer, which ends the agent's work."""
        with self._one, self._following().program(["submit"]) as ended_with:
            self._check_time()
            self.workplace.hand_in(causes, explanation)
            ended_with(0)
        self.submitted.set()

    def _check_time(self) -> None:
        if self.submitted.is_set():
            raise ToolError("the answer was handed in, so the work is over")
        if self.workplace.patience.monotonic() >= self.workplace.deadline:
            raise ToolError("the time is over")

    def _following(self) -> Following:
        place = self.workplace
        return Following(place.output, place.began, place.patience.monotonic, place.sandbox.redaction)

    def _keep(self, content: bytes) -> None:
        """Keep an answer as a program's output is kept, and no more of it."""
        with (self.workplace.output / STDOUT).open("ab") as file:
            file.write(self.workplace.sandbox.redaction.data(content)[: max(0, OUTPUT_LIMIT - file.tell())])


def shortened(text: str) -> str:
    """A text that isn't longer than what is handed back; where something is left out, it says how much."""
    left_out = len(text) - LONGEST
    return text if left_out <= 0 else f"{text[:LONGEST]}\n… {left_out} characters are left out; ask for less"


def as_text(value: Any) -> str:
    """JSON in few characters, for a model to read."""
    return shortened(value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False))


def _merged(command: Sequence[str]) -> list[str]:
    """A command line whose errors come out with its output, in the order they were printed."""
    return ["/bin/sh", "-c", 'exec "$@" 2>&1', command[0], *command]
