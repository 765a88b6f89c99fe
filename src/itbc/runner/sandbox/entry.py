"""The first process of an agent's namespaces. Run as a program; uses nothing but the standard library.

It covers what the agent must not see, becomes an unprivileged user in a child
process, and reaps whatever that leaves behind. When it ends, the kernel ends
everything in its process namespace. The specification comes over a file
descriptor and "ready" goes out over another; their numbers are the only
arguments, because command lines are world-readable.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

MS_BIND = 0x1000
MS_NOSUID = 0x2
MS_NODEV = 0x4
PR_SET_NO_NEW_PRIVS = 38

READY = b"ready"

LARGEST_FILE = 1 << 30
"""In bytes. Private folders in memory are smaller anyway; this is for whatever else can be written to."""

PRIVATE_SIZE = "256m"
"""What fits into a private folder such as /tmp."""

NOT_FOUND = 127
NOT_EXECUTABLE = 126

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system or a part of one. Raises OSError."""
    if _libc.mount(source.encode(), target.encode(), kind.encode(), flags, options.encode() or None):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def cover(path: Path, mode: str) -> None:
    """Put an empty folder (or file) over a path, where it exists."""
    if path.is_dir():
        mount("tmpfs", str(path), "tmpfs", MS_NOSUID | MS_NODEV, f"mode={mode},size={PRIVATE_SIZE}")
    elif path.exists():
        mount("/dev/null", str(path), "", MS_BIND)


def expose(descriptor: int, target: Path, *, folder: bool) -> None:
    """Make what the descriptor points at visible at `target`, which may lie in a covered folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if folder:
        target.mkdir(exist_ok=True)
    else:
        target.touch()
    mount(f"/proc/self/fd/{descriptor}", str(target), "", MS_BIND)


def arrange(operations: list[dict[str, str]]) -> None:
    """Make the file system look as the agent may see it."""
    sources = {
        each["source"]: (os.open(each["source"], os.O_PATH | os.O_CLOEXEC), Path(each["source"]).is_dir())
        for each in operations
        if each["what"] == "expose"
    }
    for each in operations:
        if each["what"] == "cover":
            cover(Path(each["target"]), each["mode"])
        else:
            descriptor, folder = sources[each["source"]]
            expose(descriptor, Path(each["target"]), folder=folder)
    for descriptor, _ in sources.values():
        os.close(descriptor)


def become_agent(specification: dict[str, Any]) -> None:
    """Give up all rights, then become the agent's program. Never returns."""
    try:
        os.setsid()
        for name in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        os.setgroups([])
        os.setresgid(*[specification["user"]] * 3)
        os.setresuid(*[specification["user"]] * 3)
        _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        os.umask(0o022)
        os.chdir(specification["folder"])
        os.execvpe(specification["command"][0], specification["command"], specification["environment"])  # noqa: S606 - the sense of it
    except FileNotFoundError as wrong:
        sys.stderr.write(f"{specification['command'][0]}: {wrong.strerror}\n")
        sys.stderr.flush()
        os._exit(NOT_FOUND)
    except OSError as wrong:
        sys.stderr.write(f"{specification['command'][0]}: {wrong.strerror}\n")
        sys.stderr.flush()
        os._exit(NOT_EXECUTABLE)


def reap_until(child: int) -> int:
    """Reap every child until that one has ended. Returns its exit code, 128 plus the signal where one ended it."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def main() -> int:
    """Arrange, start the agent, wait for it."""
    with os.fdopen(int(sys.argv[1]), "rb") as source:
        specification: dict[str, Any] = json.loads(source.read())
    for group in specification["groups"]:
        # 0 is whoever writes, in every process namespace.
        Path(group, "cgroup.procs").write_text("0")
    arrange(specification["view"])
    ready = int(sys.argv[2])
    os.write(ready, READY)
    os.close(ready)
    child = os.fork()
    if child == 0:
        become_agent(specification)
    return reap_until(child)


if __name__ == "__main__":
    sys.exit(main())
