"""The system calls that an agent's programs are refused: ways around its network, and the kernel's log.

A network namespace keeps the Internet's addresses in, but not every family of
sockets: with AF_VSOCK a guest talks to its host. The filter is one of the
kernel's (userspace-api/seccomp_filter), in classic BPF.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""The families of sockets that a program may open; each lies within the agent's own network."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF_0000, 0x0005_0000
_NUMBER_AT, _MACHINE_AT, _ARGUMENT_AT = 0, 4, 16
_X32 = 0x4000_0000
_IO_URING_SETUP = 425


@dataclass(frozen=True, slots=True)
class Numbers:
    """A kind of machine (linux/audit.h), and the numbers of system calls there."""

    machine: int
    socket: int
    syslog: int
    keyctl: int


NUMBERS: Mapping[str, Numbers] = {
    "x86_64": Numbers(0xC000_003E, 41, 103, 250),
    "aarch64": Numbers(0xC000_00B7, 198, 116, 219),
    "riscv64": Numbers(0xC000_00F3, 198, 116, 219),
}
"""By the machine's name as `uname -m` gives it. All are little-endian, which the place of an argument depends on."""


def refusing(numbers: Numbers) -> bytes:
    """The filter's instructions. What isn't refused by it is allowed.

    Programs for another machine (32 bits) would call by other numbers: they
    find no system call at all. io_uring could open sockets unseen.
    """
    no_such_call, no_such_family, no_right = (
        _REFUSE | number for number in (errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPERM)
    )
    lines = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUAL, 1, 0, numbers.machine),
        (_RETURN, 0, 0, no_such_call),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, no_such_call),
        (_EQUAL, 0, 1, _IO_URING_SETUP),
        (_RETURN, 0, 0, no_such_call),
        (_EQUAL, 0, 1, numbers.syslog),
        (_RETURN, 0, 0, no_right),
        (_EQUAL, 1, 0, numbers.socket),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _ARGUMENT_AT),
        *((_EQUAL, len(FAMILIES) - place, 0, int(family)) for place, family in enumerate(FAMILIES)),
        (_RETURN, 0, 0, no_such_family),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)
