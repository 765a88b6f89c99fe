"""The node's end of the link, its default route and its packet filter."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from itbc.providers.embedded.supervisor.plan import Plan

LINK = "eth0"
_PATIENCE = 60.0
_INTERVAL = 0.05


def set_up(plan: Plan) -> None:
    """Wait for the link, then configure it. Raises TimeoutError, or RuntimeError with a tool's words."""
    _await_link()
    _feed(
        ("ip", "-batch", "-"),
        f"link set lo up\n"
        f"link set {LINK} addrgenmode none\n"
        f"address add {plan.address}/{plan.prefix} dev {LINK}\n"
        f"link set {LINK} up\n"
        # Services live at addresses no interface has: without a default route nothing could be sent there.
        f"route add default dev {LINK}\n",
    )
    _feed(("nft", "-f", "-"), plan.guard)
    for name, value in sorted(plan.sysctls.items()):
        setting = Path("/proc/sys", name)
        # A kernel without bridge netfilter (a module elsewhere) hasn't all of them, and manages without.
        if setting.exists():
            setting.write_text(value)


def _await_link() -> None:
    deadline = time.monotonic() + _PATIENCE
    while LINK not in (name for _, name in socket.if_nameindex()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {LINK} was handed over within {_PATIENCE:g} s")
        time.sleep(_INTERVAL)


def _feed(command: tuple[str, ...], text: str) -> None:
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
