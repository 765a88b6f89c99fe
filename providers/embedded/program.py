"""Which node program a cluster runs: one the user points at, or the one built on this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from itbc.providers.embedded.errors import EmbeddedError

SETTING = "ITBC_NODE_PROGRAM"
KUBERNETES_VERSION = "v1.36.3"


def node_program(cache: Path, progress: Callable[[str], None], environ: Mapping[str, str] = os.environ) -> Path:
    """The node program, built first where it isn't yet. Raises EmbeddedError for one that can't be used."""
    if chosen := environ.get(SETTING):
        return check(Path(chosen).absolute())
    from itbc.stacks.toolchain import build  # noqa: PLC0415 - not needed where a program is pointed at

    return build.node_program(cache, progress)


def check(program: Path) -> Path:
    """The same path, if it is a node program of the right version. Raises EmbeddedError where it isn't."""
    try:
        done = subprocess.run(
            (program, "version"), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as wrong:
        raise EmbeddedError(
            f"{SETTING} names {program}, which can't be run: {wrong.strerror}",
            f"Point {SETTING} at a built node program, or unset it to have one built.",
        ) from wrong
    version = done.stdout.strip()
    if done.returncode or version != KUBERNETES_VERSION:
        raise EmbeddedError(
            f"{SETTING} names {program}, which is no node program of Kubernetes {KUBERNETES_VERSION}"
            f" (it says {version or done.stderr.strip()[:200] or 'nothing'!r})",
            f"Unset {SETTING} to have the right one built.",
        )
    return program
