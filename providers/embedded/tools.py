"""Running this machine's own programs: always found in the same places, always spoken to in English."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import IO

from itbc.providers.embedded.errors import EmbeddedError

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where system programs are, whatever the user's PATH is: that of root often lacks half of these."""

_PACKAGES = {"ip": "iproute2", "nsenter": "util-linux", "promtool": "prometheus"}
_PATIENCE = 120.0


def find(program: str) -> str | None:
    """Where a program is, the user's PATH first."""
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), SEARCH_PATH]))


def run(command: Sequence[str], given: IO[bytes] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; `given` is an open file that becomes its input.

    Raises EmbeddedError where the program is missing or takes unreasonably long.
    """
    program = find(command[0])
    if program is None:
        package = _PACKAGES.get(command[0], command[0])
        raise EmbeddedError(f"the program `{command[0]}` is missing", f"apt-get install {package}")
    try:
        return subprocess.run(
            (program, *command[1:]),
            env={"PATH": SEARCH_PATH, "LC_ALL": "C.UTF-8"},
            stdin=given or subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired as wrong:
        raise EmbeddedError(f"`{' '.join(command)}` didn't end within {_PATIENCE:g} s") from wrong
