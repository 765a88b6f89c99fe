"""The first process of an agent's namespaces. Run as a program; uses nothing but the standard library.

It covers what the agent must not see, opens the passages out of the agent's
network, becomes an unprivileged user in a child process, and reaps whatever
that leaves behind. When it ends, the kernel ends everything in its process
namespace. The specification comes over a file descriptor; "ready" goes out
over a Unix socket, with the listening sockets of the passages. The numbers of
the two are the only arguments, because command lines are world-readable.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import ipaddress
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MNT_DETACH = 0x2
CLONE_NEWCGROUP = 0x0200_0000
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
IP_FREEBIND = 15
KEYCTL_JOIN_SESSION_KEYRING = 1

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


def leave_sight_of_the_machine() -> None:
    """Show no more of other cgroups and of the machine's network than a process of its own can see. Raises OSError."""
    if _libc.unshare(CLONE_NEWCGROUP):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "cgroup namespace")
    # What was mounted there shows the network devices of the machine, and below it every cgroup.
    mount("sysfs", "/sys", "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)


def open_passages(listen: Sequence[tuple[str, int]]) -> list[socket.socket]:
    """Make each address the loopback's own and listen there. Raises OSError."""
    addresses = [ipaddress.ip_address(address) for address in dict.fromkeys(address for address, _ in listen)]
    lines = ["link set lo up"]
    lines += [
        f"address add {each}/{each.max_prefixlen} dev lo{' nodad' if each.version == 6 else ''}"
        for each in addresses
        if not each.is_loopback
    ]
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(errno.ENETDOWN, done.stderr.strip().replace("\n", "; "), "ip (package iproute2)")
    listeners: list[socket.socket] = []
    for address, port in listen:
        listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        # The loopback's own IPv6 address is there a moment later than the loopback.
        listener.setsockopt(socket.SOL_IP, IP_FREEBIND, 1)
        listener.bind((address, port))
        listener.listen(128)
        listeners.append(listener)
    return listeners


def name_hosts(names: Mapping[str, str]) -> None:
    """Give the agent a list of names of its own: no name server can be asked. Raises OSError."""
    hosts = Path("/etc/hosts")
    if not hosts.exists():
        if names:
            raise OSError(errno.ENOENT, "there is nothing to put the agent's names in the place of", str(hosts))
        return
    lines = [f"127.0.0.1 localhost {os.uname().nodename}", "::1 localhost"]
    lines += [f"{address} {name}" for name, address in names.items() if name != "localhost"]
    # The file lives on in its place when the file system that it was made in is gone.
    passing = Path("/tmp")  # noqa: S108 - an own file system is mounted there
    cover(passing, "0755")
    own = passing / "hosts"
    own.write_text("\n".join(lines) + "\n")
    mount(str(own), str(hosts), "", MS_BIND)
    if _libc.umount2(str(passing).encode(), MNT_DETACH):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), str(passing))


def leave_keyrings(keyctl: int) -> None:
    """Begin an empty session keyring: that of whoever started itbc may hold their keys. Raises OSError."""
    if _libc.syscall(keyctl, KEYCTL_JOIN_SESSION_KEYRING, None) < 0:
        error = ctypes.get_errno()
        # Where the kernel has no keyrings, or lets nobody near them, there is nothing to leave.
        if error not in {errno.ENOSYS, errno.EPERM}:
            raise OSError(error, os.strerror(error), "keyctl")


class Filter(ctypes.Structure):
    """A filter of system calls (struct sock_fprog)."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def refuse_calls(instructions: bytes) -> None:
    """From now on refuse the system calls that the filter does. Raises OSError."""
    if _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or _libc.prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Filter(len(instructions) // 8, instructions))
    ):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "seccomp")


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
        refuse_calls(bytes.fromhex(specification["filter"]))
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
    leave_sight_of_the_machine()
    name_hosts(specification["names"])
    arrange(specification["view"])
    leave_keyrings(specification["keyctl"])
    with socket.socket(fileno=int(sys.argv[2])) as told, contextlib.ExitStack() as passed:
        listeners = [passed.enter_context(each) for each in open_passages(specification["listen"])]
        socket.send_fds(told, [READY], [each.fileno() for each in listeners])
    child = os.fork()
    if child == 0:
        become_agent(specification)
    return reap_until(child)


if __name__ == "__main__":
    sys.exit(main())
