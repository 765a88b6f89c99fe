"""Runs the terraform program: event stream, one interrupt, time-outs.

Terraform gets a session of its own, so that a Ctrl-C at the terminal reaches
only itbc, and exactly one SIGINT when itbc wants it to stop: after the first it
finishes what is in flight and saves the state, after a second it forgets it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

CLI_CONFIGURATION = "disable_checkpoint = true\n"
"""The whole CLI configuration: terraform must neither call home nor read the user's own settings."""

LOCK_TIMEOUT = "60s"
GRACE_SECONDS = 120.0
"""How long terraform may take to finish what is in flight after the one SIGINT."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error or a warning of terraform. `address` names the resource (`TYPE.NAME`) where it is about one."""

    severity: str
    summary: str
    detail: str
    address: str


class TerraformError(Exception):
    """Terraform didn't do what it was asked to."""

    def __init__(self, what: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.diagnostics = tuple(diagnostics)


class TerraformInterrupted(TerraformError):  # noqa: N818 - the name is the fact
    """Terraform ended early because it was told to; its state is saved."""


class TerraformTimeout(TerraformError):  # noqa: N818 - the name is the fact
    """Terraform took longer than it may."""


@dataclass(frozen=True, slots=True)
class RootModule:
    """A root module and where its data and its state live, which is outside the folder that holds its files."""

    files: Path
    data: Path

    @property
    def state(self) -> Path:
        """The state file."""
        return self.data / "terraform.tfstate"


@dataclass(frozen=True, slots=True)
class _Listener:
    """Takes a command's lines: into its log, and as events, diagnostics or plain text to whoever wants them."""

    log: IO[bytes]
    on_event: Callable[[Json], None]
    text: list[str] | None
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def take(self, line: bytes) -> None:
        """Use one line: an event where it is one, plain text where not."""
        self.log.write(line)
        if self.text is not None:
            self.text.append(line.decode(errors="replace"))
            return
        try:
            event: Any = json.loads(line)
        except ValueError:
            return
        if not isinstance(event, dict):
            return
        if event.get("type") == "diagnostic":
            found = event.get("diagnostic", {})
            said = (found.get(key, "") for key in ("severity", "summary", "detail", "address"))
            self.diagnostics.append(Diagnostic(*said))
        self.on_event(event)


@dataclass(frozen=True, slots=True)
class Terraform:
    """The terraform (or tofu) program and the surroundings it runs in.

    `environment` is the base environment; every `TF_…` variable of it is
    dropped. `extra` comes on top: the provider to attach to. `stop`, once set,
    ends the command that runs with one SIGINT.
    """

    program: Path
    folder: Path
    environment: Mapping[str, str]
    extra: Mapping[str, str] = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)
    monotonic: Callable[[], float] = time.monotonic

    def init(self, module: RootModule, seconds: float = 120.0) -> None:
        """Prepare a root module; needs no network, as the only provider is attached to. Raises TerraformError."""
        module.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        arguments = ["init", "-json", "-input=false", f"-backend-config=path={module.state}"]
        self._run(module, arguments, {}, _ignore, seconds)

    def apply(
        self, module: RootModule, variables: Mapping[str, str], on_event: Callable[[Json], None], seconds: float
    ) -> None:
        """Create what the module says. Raises TerraformError, also when it was stopped half-way."""
        arguments = ["apply", "-json", "-auto-approve", "-input=false", f"-lock-timeout={LOCK_TIMEOUT}"]
        self._run(module, arguments, variables, on_event, seconds)

    def has_drifted(self, module: RootModule, variables: Mapping[str, str], seconds: float = 300.0) -> bool:
        """Whether a plan would change anything. Raises TerraformError."""
        arguments = ["plan", "-json", "-detailed-exitcode", "-input=false", f"-lock-timeout={LOCK_TIMEOUT}"]
        return self._run(module, arguments, variables, _ignore, seconds, fine=(0, 2)) == 2

    def destroy(
        self,
        module: RootModule,
        variables: Mapping[str, str],
        on_event: Callable[[Json], None],
        seconds: float,
        *,
        refresh: bool = True,
    ) -> None:
        """Remove what the state holds. `refresh=False` trusts the state, for a thing that can't be asked any more."""
        arguments = ["destroy", "-json", "-auto-approve", "-input=false", f"-lock-timeout={LOCK_TIMEOUT}"]
        if not refresh:
            arguments.append("-refresh=false")
        self._run(module, arguments, variables, on_event, seconds)

    def outputs(self, module: RootModule, seconds: float = 60.0) -> Json:
        """The module's output values by name. Raises TerraformError."""
        text: list[str] = []
        self._run(module, ["output", "-json"], {}, _ignore, seconds, text=text)
        found: dict[str, Json] = json.loads("".join(text))
        return {name: output["value"] for name, output in found.items()}

    def _run(
        self,
        module: RootModule,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        on_event: Callable[[Json], None],
        seconds: float,
        *,
        fine: Sequence[int] = (0,),
        text: list[str] | None = None,
    ) -> int:
        """Run one command to its end; `text` collects the lines of a command that doesn't give events."""
        module.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        log_path = module.data / f"{arguments[0]}.log"
        with log_path.open("ab") as log:
            try:
                process = subprocess.Popen(
                    [str(self.program), *arguments],
                    cwd=module.files,
                    env=self._environment(module, variables),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,
                )
            except OSError as wrong:
                raise TerraformError(f"can't start {self.program}: {wrong.strerror}") from wrong
            listener = _Listener(log, on_event, text)
            with process:
                ending = self._follow(process, listener, seconds)
        what = f"terraform {arguments[0]}"
        errors = [each for each in listener.diagnostics if each.severity == "error"]
        if ending == "timeout":
            raise TerraformTimeout(f"{what} took longer than {seconds:.0f} s", errors)
        if process.returncode in fine:
            return process.returncode
        if ending == "stopped":
            raise TerraformInterrupted(f"{what} was stopped", errors)
        if not errors:
            errors = [Diagnostic("error", f"exit code {process.returncode}, see {log_path.name}", _tail(log_path), "")]
        raise TerraformError(f"{what} failed", errors)

    def _follow(self, process: subprocess.Popen[bytes], listener: _Listener, seconds: float) -> str:
        """Read a command's lines until it has ended. Returns how: `ended`, `stopped` or `timeout`."""
        arrived: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        if process.stdout is None:
            raise RuntimeError("the process was started without a pipe")
        reader = threading.Thread(target=_read, args=(process.stdout, arrived), name="terraform", daemon=True)
        reader.start()
        deadline = self.monotonic() + seconds
        ending = "ended"
        while True:
            try:
                line = arrived.get(timeout=0.2)
            except queue.Empty:
                line = b""
            if line is None:
                process.wait()
                return ending
            if line:
                listener.take(line)
            late = self.monotonic() > deadline
            if ending == "ended" and (late or self.stop.is_set()):
                ending = "timeout" if late else "stopped"
                process.send_signal(signal.SIGINT)
                deadline = self.monotonic() + GRACE_SECONDS
            elif ending != "ended" and late:
                os.killpg(process.pid, signal.SIGKILL)

    def _environment(self, module: RootModule, variables: Mapping[str, str]) -> dict[str, str]:
        configuration = self.folder / "terraform.tfrc"
        if not configuration.exists():
            part = configuration.with_name(f"{configuration.name}.{threading.get_ident()}")
            part.write_text(CLI_CONFIGURATION)
            part.replace(configuration)
        base = {name: value for name, value in self.environment.items() if not name.startswith("TF_")}
        inputs = {f"TF_VAR_{name}": value for name, value in variables.items()}
        return {
            **base,
            "CHECKPOINT_DISABLE": "1",
            "TF_CLI_CONFIG_FILE": str(configuration),
            "TF_DATA_DIR": str(module.data / "data"),
            "TF_IN_AUTOMATION": "1",
            **inputs,
            **self.extra,
        }


def _ignore(event: Json) -> None:
    """For commands whose events nobody looks at."""


def _read(pipe: IO[bytes], arrived: queue.SimpleQueue[bytes | None]) -> None:
    for line in pipe:
        arrived.put(line)
    arrived.put(None)


def _tail(path: Path, size: int = 2000) -> str:
    """The last characters of a log."""
    return path.read_bytes()[-size:].decode(errors="replace").strip()
