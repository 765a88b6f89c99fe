"""Ways out by the network."""

from __future__ import annotations

import ctypes
import os
import socket
from typing import Any

from trying import Outcome, attempt, connect, first

_libc = ctypes.CDLL(None, use_errno=True)


@attempt
def service_that_was_granted(places: dict[str, Any]) -> Outcome:
    """Not a way out but the way: what shows that these attempts can get through at all."""
    return connect(socket.AF_INET, ("localhost", places["granted_port"]))


@attempt
def service_on_the_machines_loopback(places: dict[str, Any]) -> Outcome:
    return connect(socket.AF_INET, ("127.0.0.1", places["port"]))


@attempt
def service_on_the_machines_addresses(places: dict[str, Any]) -> Outcome:
    return connect(socket.AF_INET, *((each, places["port"]) for each in places["addresses"]))


@attempt
def service_by_abstract_socket(places: dict[str, Any]) -> Outcome:
    return connect(socket.AF_UNIX, f"\0{places['abstract']}")


@attempt
def service_by_socket_in_run(places: dict[str, Any]) -> Outcome:
    return connect(socket.AF_UNIX, places["socket"])


@attempt
def containerd(_places: dict[str, Any]) -> Outcome:
    return connect(
        socket.AF_UNIX, "/run/containerd/containerd.sock", "/var/run/containerd/containerd.sock", "/run/docker.sock"
    )


@attempt
def kubelet(places: dict[str, Any]) -> Outcome:
    return connect(socket.AF_INET, (places["node"], 10250))


@attempt
def ports_of_the_node_that_were_not_granted(places: dict[str, Any]) -> Outcome:
    """All 65535 of them; etcd, the scheduler and the controllers would be among them."""
    reached: list[int] = []
    for port in range(1, 1 << 16):
        with socket.socket() as one:
            one.settimeout(2)
            # A socket that happens to have been given that very port has connected to itself.
            if one.connect_ex((places["node"], port)) == 0 and one.getsockname() != one.getpeername():
                reached.append(port)
    return bool(set(reached) - set(places["granted"])), f"{places['node']}: {reached}"


@attempt
def etcd(places: dict[str, Any]) -> Outcome:
    return connect(socket.AF_INET, ("127.0.0.1", 2379), (places["node"], 2379))


@attempt
def addresses_of_the_internet(_places: dict[str, Any]) -> Outcome:
    return first(
        [
            connect(socket.AF_INET, ("198.51.100.1", 443), ("169.254.169.254", 80)),
            connect(socket.AF_INET6, ("2001:db8::1", 443)),
            _datagram(("198.51.100.53", 53)),
            _resolve("example.com"),
        ]
    )


def _datagram(address: tuple[str, int]) -> Outcome:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.sendto(b"x", address)
    except OSError as wrong:
        return False, f"{address} by UDP: {wrong}"
    return True, f"{address} by UDP: sent"


def _resolve(name: str) -> Outcome:
    try:
        return True, f"{name}: {socket.getaddrinfo(name, 443)[0][4]}"
    except OSError as wrong:
        return False, f"{name}: {wrong}"


@attempt
def sockets_that_know_no_namespace(_places: dict[str, Any]) -> Outcome:
    """To the host of a virtual machine, to raw packets, and by a queue of the kernel's. None is used."""
    said: list[str] = []
    for family, kind in (
        (socket.AF_PACKET, socket.SOCK_RAW),
        (socket.AF_INET, socket.SOCK_RAW),
        (40, socket.SOCK_STREAM),
    ):
        try:
            with socket.socket(family, kind):
                return True, f"family {family}: opened"
        except OSError as wrong:
            said.append(f"family {family}: {wrong}")
    if _libc.syscall(425, 1, None) >= 0:
        return True, "io_uring"
    return False, "; ".join([*said, f"io_uring: {os.strerror(ctypes.get_errno())}"])
