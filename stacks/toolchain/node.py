"""The one program of an embedded Kubernetes node: built once a machine, or brought from elsewhere."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import itbc
from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.golang import Build, built
from itbc.stacks.toolchain.running import Progress

KUBERNETES_VERSION = "v1.36.3"
"""The version that `node version` must print; the one that go.mod pins."""

PROGRAM_SETTING = "ITBC_NODE_PROGRAM"
DIGEST_SETTING = "ITBC_NODE_SHA256"

SOURCE = Path(itbc.__file__).resolve().parent / "providers" / "embedded" / "node"

_STAMPS = {
    "gitVersion": KUBERNETES_VERSION,
    "gitMajor": "1",
    "gitMinor": "36",
    "gitTreeState": "clean",
    # Without these three the server reports placeholders, and clients refuse to compare versions with it.
    "gitCommit": "0" * 40,
    "buildDate": "1970-01-01T00:00:00Z",
}


def node_program(
    cache: Path, progress: Progress, environ: Mapping[str, str] = os.environ, *, source: Path = SOURCE
) -> Path:
    """The path of the node program.

    `ITBC_NODE_PROGRAM` names one that was built elsewhere: it must print the
    pinned version, and have the SHA-256 that `ITBC_NODE_SHA256` gives, where it
    is set. Otherwise it is built into the cache, which takes 5 to 10 minutes
    once a machine, and `progress` gets a line every few seconds. Raises
    ToolchainError.
    """
    elsewhere = environ.get(PROGRAM_SETTING)
    if elsewhere:
        return _checked(Path(elsewhere), environ.get(DIGEST_SETTING, ""))
    return built(_build(source), lambda key: _place(cache, key), cache, progress, environ)


def node_program_is_built(cache: Path, *, source: Path = SOURCE) -> bool:
    """Whether the cache has the node program of just these sources, so that it need not be built."""
    return _place(cache, _build(source).key()).exists()


def _build(source: Path) -> Build:
    stamps = " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in _STAMPS.items())
    # The folder may be reached through a link; Go wants the real one.
    return Build("the Kubernetes program", source.resolve(), (f"-ldflags=-s -w {stamps}",))


def _place(cache: Path, key: str) -> Path:
    return cache / "node" / key / "node"


def _checked(program: Path, digest: str) -> Path:
    unset = f"build it as providers/embedded/node says, or unset {PROGRAM_SETTING} to have itbc build it"
    if not program.is_file():
        raise ToolchainError(f"{PROGRAM_SETTING} names {program}, which is no file", unset)
    if digest:
        with program.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != digest.strip().lower():
            raise ToolchainError(f"{program} has the SHA-256 {found}, but {DIGEST_SETTING} says {digest}", unset)
    try:
        answer = subprocess.run(
            [str(program), "version"], capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as wrong:
        raise ToolchainError(f"{program} doesn't run: {wrong}", unset) from wrong
    version = answer.stdout.strip()
    if answer.returncode != 0 or version != KUBERNETES_VERSION:
        said = version or answer.stderr.strip() or f"exit code {answer.returncode}"
        raise ToolchainError(f"{program} isn't Kubernetes {KUBERNETES_VERSION}: `version` says {said[:200]}", unset)
    return program.resolve()
