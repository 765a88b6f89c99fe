"""What an agent may reach of the network: a list of addresses, and nothing else.

The agent's network namespace has no way out. Each granted address is one of
its loopback's own, and what is connected to there is carried outside (see
`relay`), so URLs and the names in certificates stay as they are.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_NAME = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*"
)
_PORTS = {"http": 80, "https": 443}

MOST_ADDRESSES = 64
"""How many addresses a user may grant: each costs a socket, and sockets are handed over all at once."""


class WrongAddress(ValueError):  # noqa: N818 - the name is the fact
    """A text that is no address of something to connect to. The message says why."""


class Unresolved(Exception):  # noqa: N818 - the name is the fact
    """A name has no address. The message says which and why."""


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A host, by name or by IP address, and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        """As `parse` takes it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Passage:
    """A way out: who connects to `inside` is carried to the first of `outside` (IP addresses) that takes it."""

    inside: str
    port: int
    outside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """The passages, and the IP address inside of each name."""

    passages: tuple[Passage, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict[str, str])


def parse(text: str) -> Address:
    """An address from `HOST:PORT`, with an IPv6 address in brackets. Raises WrongAddress."""
    host, colon, port = text.rpartition(":")
    if "/" in text or not colon:
        raise WrongAddress(f"{text!r} isn't HOST:PORT, as in api.example.com:443 or [2001:db8::1]:443")
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 1 << 16):
        raise WrongAddress(f"{text!r} has no port from 1 to 65535 after its last colon")
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        if bracketed or not _NAME.fullmatch(host) or re.fullmatch(r"[0-9.]*", host):
            raise WrongAddress(f"{text!r}: {host!r} is neither a host's name nor an IP address") from None
        return Address(host.lower(), int(port))
    if (found.version == 6) != bracketed:
        raise WrongAddress(f"{text!r}: an IPv6 address, and no other, goes in brackets, as in [2001:db8::1]:443")
    if found.is_unspecified or found.is_multicast or "%" in host:
        raise WrongAddress(f"{text!r}: {host} isn't the address of one host everywhere")
    return Address(str(found), int(port))


def address_of(url: str) -> Address:
    """Where a URL's server listens. Raises WrongAddress."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError as wrong:
        raise WrongAddress(f"{url!r} is no URL: {wrong}") from wrong
    if not parts.hostname or port is None:
        raise WrongAddress(f"{url!r} is no URL of a server: it has no host or no port")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return parse(f"{host}:{port}")


def look_up(host: str) -> list[str]:
    """The IP addresses of a name, as this machine knows them, in the order to try them. Raises Unresolved."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as wrong:
        raise Unresolved(f"the name {host} has no address: {wrong.strerror or wrong}") from wrong
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def make_network(addresses: Iterable[Address], look_up: Callable[[str], list[str]] = look_up) -> Network:
    """The network in which exactly these addresses are reached. Raises Unresolved.

    A name is looked up now and stands for what was found until the end. Inside
    it has the first IPv4 address of that, or the first at all.
    """
    names: dict[str, str] = {}
    ways: dict[tuple[str, int], list[str]] = {}
    for address in dict.fromkeys(addresses):
        found = [address.host] if _is_ip(address.host) else look_up(address.host)
        inside = next((each for each in found if ":" not in each), found[0])
        if not _is_ip(address.host):
            names[address.host] = inside
        ways.setdefault((inside, address.port), []).extend(found)
    passages = tuple(Passage(*way, tuple(dict.fromkeys(outside))) for way, outside in ways.items())
    return Network(passages, names)


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
