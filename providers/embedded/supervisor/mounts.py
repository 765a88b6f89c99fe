"""mount(2) and umount2(2) without a process for each, and without the traces the `mount` program leaves in /run."""

from __future__ import annotations

import ctypes
import os

RDONLY = 0x1
NOSUID = 0x2
NODEV = 0x4
NOEXEC = 0x8
REMOUNT = 0x20
BIND = 0x1000
REC = 0x4000
PRIVATE = 0x40000
SHARED = 0x100000
_DETACH = 0x2

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
_libc.umount2.argtypes = (ctypes.c_char_p, ctypes.c_int)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount. Raises OSError naming the target."""
    words = (source, target, kind)
    if _libc.mount(*(word.encode() or None for word in words), flags, options.encode() or None):
        _fail(target)


def bind(source: str, target: str, *, recursive: bool = False, readonly: bool = False) -> None:
    """Show a file or folder at another place as well. Raises OSError naming the target."""
    mount(source, target, flags=BIND | (REC if recursive else 0))
    if readonly:
        # A bind mount ignores flags at first; it takes them when it is mounted anew.
        mount("", target, flags=BIND | REMOUNT | RDONLY)


def detach(target: str) -> None:
    """Take a mount and all below it out of sight. Raises OSError naming the target."""
    if _libc.umount2(target.encode(), _DETACH):
        _fail(target)


def _fail(target: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), target)
