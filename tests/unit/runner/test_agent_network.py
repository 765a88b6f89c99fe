"""An agent's network, with real namespaces: what was granted is reached, and nothing else is."""

from __future__ import annotations

import os
import re
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from itbc.runner.sandbox.network import Address, Network, Passage, make_network
from itbc.runner.sandbox.programs import NoSandbox, Sandbox
from itbc.runner.sandbox.relay import Relay
from itbc.runner.waiting import Patience

from .test_sandbox import Place

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces and other users need root")

WAYS_OUT = """
import socket
for family, address in [
    (socket.AF_INET, ("203.0.113.1", {port})), (socket.AF_INET, ("127.0.0.1", {port})),
    (socket.AF_INET, ("198.51.100.53", 53)), (socket.AF_INET6, ("::1", {port})),
    (socket.AF_INET6, ("2001:db8::53", 53)), (socket.AF_UNIX, {abstract!r}),
]:
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.settimeout(5)
        try:
            tried.connect(address)
        except TimeoutError:
            print("hangs", address)
        except OSError:
            print("closed")
        else:
            print("reached", address)
"""

HALF_CLOSED = """
import socket
with socket.create_connection(("{host}", {port})) as one:
    one.sendall(b"to be " * 100_000)
    one.shutdown(socket.SHUT_WR)
    print(len(one.makefile("rb").read()))
"""

CLOSED = """
import socket
try:
    socket.create_connection(("{host}", {port}))
except ConnectionRefusedError:
    print("refused")
"""


class Echo(socketserver.StreamRequestHandler):
    """Says everything again, once it has heard the end."""

    def handle(self) -> None:
        self.wfile.write(self.rfile.read())


class Greeter(socketserver.StreamRequestHandler):
    """Says a word at once, and waits for the other's end."""

    def handle(self) -> None:
        self.wfile.write(b"welcome\n")
        self.rfile.read()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


class Server6(Server):
    address_family = socket.AF_INET6


@contextmanager
def serving(handler: type[socketserver.StreamRequestHandler], host: str = "127.0.0.1") -> Generator[int]:
    """A server outside of every box, and its port."""
    with (Server6 if ":" in host else Server)((host, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class Box:
    """The place of an agent, and programs in a network."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def sandbox(self, network: Network) -> Sandbox:
        return replace(self.place.sandbox, network=network)

    def run(self, network: Network, *command: str, seconds: float = 30.0) -> str:
        deadline = self.place.patience.monotonic() + seconds
        ended = self.sandbox(network).execute(
            command, (self.place.out, self.place.err), self.place.patience, deadline=deadline
        )
        assert ended.code == 0, self.place.err.read_text()
        return ended.output.decode()

    def python(self, network: Network, program: str) -> str:
        return self.run(network, "python3", "-c", program)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(Place(tmp_path))


def passage(inside: str, port: int, *outside: str) -> Network:
    return Network((Passage(inside, port, outside or (inside,)),))


@NEEDS_ROOT
def test_without_a_grant_there_is_nothing_but_an_own_loopback(box: Box) -> None:
    abstract = f"\0itbc-test-{os.getpid()}"
    with serving(Greeter) as port, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(abstract)
        listening.listen()
        said = box.python(Network(), WAYS_OUT.format(port=port, abstract=abstract))
        # The control: from outside the same program gets through to what is there.
        outside = subprocess.run(
            [sys.executable, "-c", WAYS_OUT.format(port=port, abstract=abstract)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    assert said.splitlines() == ["closed"] * 6
    assert outside.count("reached") >= 2
    devices = box.run(
        Network(), "sh", "-c", "ls /sys/class/net; grep -c : /proc/net/dev; ls /sys/fs/cgroup; cat /proc/self/cgroup"
    )
    assert [line for line in devices.splitlines() if not line.endswith(":/")] == ["lo", "1"]


@NEEDS_ROOT
def test_it_has_its_loopback_to_itself(box: Box) -> None:
    program = """
import socket
for host in ("127.0.0.1", "::1", "localhost"):
    with socket.create_server((host, 0), family=socket.AF_INET6 if host == "::1" else socket.AF_INET) as here:
        with socket.create_connection((host, here.getsockname()[1])):
            print("reached")
"""
    assert box.python(Network(), program).splitlines() == ["reached"] * 3


@NEEDS_ROOT
@pytest.mark.parametrize("inside", ["198.51.100.7", "127.0.0.1", "2001:db8::7"])
def test_what_is_granted_is_reached_at_its_own_address(box: Box, inside: str) -> None:
    with serving(Echo) as port:
        network = passage(inside, port, "127.0.0.1")
        assert box.python(network, HALF_CLOSED.format(host=inside, port=port)) == "600000\n"
        # The port beside it isn't.
        closed = CLOSED.format(host=inside, port=port % 65535 + 1)
        assert box.python(network, closed) == "refused\n"


@NEEDS_ROOT
def test_a_name_is_known_inside_and_others_are_not(box: Box) -> None:
    with serving(Echo) as port:
        network = make_network([Address("model.example", port)], lambda _name: ["198.51.100.7", "127.0.0.1"])
        # The first address of the name doesn't answer here or isn't that server: the next one is tried.
        network = replace(network, passages=(Passage("198.51.100.7", port, ("127.0.0.2", "127.0.0.1")),))
        assert box.python(network, HALF_CLOSED.format(host="model.example", port=port)) == "600000\n"
        unknown = (
            "import socket\ntry: socket.getaddrinfo('other.example', 443)\nexcept socket.gaierror: print('unknown')"
        )
        assert box.python(network, unknown) == "unknown\n"
    assert "model.example" not in Path("/etc/hosts").read_text()


@NEEDS_ROOT
def test_ipv6_outside_is_reached_too(box: Box) -> None:
    with serving(Echo, "::1") as port:
        said = box.python(passage("198.51.100.7", port, "::1"), HALF_CLOSED.format(host="198.51.100.7", port=port))
    assert said == "600000\n"


RESET = """
import socket
try:
    with socket.create_connection(("198.51.100.7", {port}), timeout=20) as one:
        print(one.recv(10))
except TimeoutError:
    print("hangs")
except ConnectionError:
    print("ended")
"""


@NEEDS_ROOT
def test_what_nobody_answers_is_reset_and_holds_up_nobody(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itbc.runner.sandbox.relay.CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    assert box.python(passage("198.51.100.7", port, "127.0.0.1"), RESET.format(port=port)) == "ended\n"
    with full() as port:
        assert box.python(passage("198.51.100.7", port, "127.0.0.1"), RESET.format(port=port)) == "ended\n"
        # The runner's own time-out isn't held up by it either.
        began = box.place.patience.monotonic()
        box.run(passage("198.51.100.7", port, "127.0.0.1"), "true")
        assert box.place.patience.monotonic() - began < 10


@contextmanager
def full() -> Generator[int]:
    """The port of a server whose queue is full, so that whoever connects waits."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        address = server.getsockname()
        waiting: list[socket.socket] = []
        try:
            for _ in range(3):
                one = socket.socket()
                waiting.append(one)
                one.setblocking(False)
                one.connect_ex(address)
            yield address[1]
        finally:
            for one in waiting:
                one.close()


@NEEDS_ROOT
def test_what_it_left_open_ends_with_it(box: Box) -> None:
    ended = threading.Event()

    class Waiting(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"welcome\n")
            try:
                self.rfile.read()
            except ConnectionError:
                pass
            finally:
                ended.set()

    with serving(Waiting) as port:
        program = f"""
import os, socket, time
one = socket.create_connection(("198.51.100.7", {port}))
assert one.recv(7) == b"welcome"
print("there", flush=True)
if os.fork() == 0:
    time.sleep(4251)
"""
        assert box.python(passage("198.51.100.7", port, "127.0.0.1"), program) == "there\n"
        assert ended.wait(20)


@NEEDS_ROOT
def test_addresses_that_cant_be_had_are_told(box: Box) -> None:
    with pytest.raises(NoSandbox, match="can't make the agent's namespaces"):
        box.run(passage("198.51.100.256", 80), "true")


CALLS = """
import ctypes, ctypes.util, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
def said(code):
    return "allowed" if code >= 0 else errno.errorcode[ctypes.get_errno()]
for family in (1, 2, 10, 16, 17, 29, 38, 40):
    print(family, said(libc.socket(family, 1 if family != 16 else 3, 0)))
print("io_uring", said(libc.syscall(425, 1, None)))
print("klogctl", said(libc.klogctl(10, None, 0)))
"""


@NEEDS_ROOT
def test_no_family_of_sockets_and_no_call_leads_around_it(box: Box) -> None:
    assert box.python(Network(), CALLS).splitlines() == [
        *("1 allowed", "2 allowed", "10 allowed", "16 allowed"),
        *("17 EAFNOSUPPORT", "29 EAFNOSUPPORT", "38 EAFNOSUPPORT", "40 EAFNOSUPPORT"),
        "io_uring ENOSYS",
        "klogctl EPERM",
    ]


@NEEDS_ROOT
def test_programs_that_call_by_other_numbers_find_no_call(box: Box) -> None:
    # x32's numbers, which would get around the filter's on x86_64.
    said = box.python(
        Network(),
        "import ctypes, errno; libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.syscall(0x40000000 + 41, 40, 1, 0), errno.errorcode[ctypes.get_errno()])",
    )
    assert said == "-1 ENOSYS\n"


@NEEDS_ROOT
def test_an_agent_cant_change_its_network(box: Box) -> None:
    said = box.run(
        passage("198.51.100.7", 80),
        "sh",
        "-c",
        "ip address add 203.0.113.1/32 dev lo && echo changed; ip link add x type dummy && echo changed; "
        "unshare --user --map-root-user --net sh -c 'ip link set lo up; ls /sys/class/net' || true; "
        "nsenter --net=/proc/1/ns/net true && echo changed; true",
    )
    assert "changed" not in said
    assert not re.search("eth|ens|enp", said)


@contextmanager
def carried(targets: Sequence[tuple[str, ...]], port: int, most: int = 8) -> Generator[tuple[list[int], Relay]]:
    """A relay within this process, and the ports to reach it at: no namespace is needed for that."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in targets]
    ports = [each.getsockname()[1] for each in listeners]
    with Relay(listeners, [Passage("127.0.0.1", port, each) for each in targets], most=most) as relay:
        yield ports, relay


def test_there_is_a_bound_and_one_more_is_reset() -> None:
    with (
        serving(Greeter) as port,
        carried([("127.0.0.1",)], port, most=2) as ([way], relay),
        socket.create_connection(("127.0.0.1", way), 20) as one,
        socket.create_connection(("127.0.0.1", way), 20) as two,
    ):
        assert one.recv(9) == two.recv(9) == b"welcome\n"
        # The reset may be there before the connection is.
        with pytest.raises(ConnectionResetError), socket.create_connection(("127.0.0.1", way), 20) as three:
            three.recv(9)
        one.shutdown(socket.SHUT_WR)
        assert one.recv(9) == b""
        Patience().until(lambda: len(relay._connections) == 1 or None, 20, every=0.01)
        with socket.create_connection(("127.0.0.1", way), 20) as four:
            assert four.recv(9) == b"welcome\n"


def test_slow_readers_are_waited_for_and_lose_nothing() -> None:
    data = os.urandom(8 << 20)
    with (
        serving(Echo) as port,
        carried([("127.0.0.1",)], port) as ([way], _),
        socket.create_connection(("127.0.0.1", way), 20) as one,
    ):
        one.sendall(data)
        one.shutdown(socket.SHUT_WR)
        assert one.makefile("rb").read() == data


def test_a_reset_is_passed_on() -> None:
    heard: list[str] = []
    told = threading.Event()

    class Listening(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"welcome\n")
            try:
                self.rfile.read()
                heard.append("end")
            except ConnectionResetError:
                heard.append("reset")
            told.set()

    with serving(Listening) as port, carried([("127.0.0.1",)], port) as ([way], _):
        with socket.create_connection(("127.0.0.1", way), 20) as one:
            assert one.recv(9) == b"welcome\n"
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        assert told.wait(20)
    assert heard == ["reset"]


def test_who_has_ended_and_hears_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itbc.runner.sandbox.relay.SILENT_SECONDS", 0.2)
    release = threading.Event()

    class Silent(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            release.wait(30)

    with serving(Silent) as port, carried([("127.0.0.1",)], port) as ([way], relay):
        with socket.create_connection(("127.0.0.1", way), 20) as one:
            one.shutdown(socket.SHUT_WR)
            with pytest.raises(ConnectionResetError):
                one.recv(1)
        Patience().until(lambda: not relay._connections or None, 20, every=0.01)
        release.set()
