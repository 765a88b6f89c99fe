from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from itbc.providers.embedded import control
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.layout import Layout
from itbc.providers.embedded.supervisor import plan
from itbc.providers.embedded.supervisor.components import Components

KILLED = 9


@dataclass
class World:
    """A clock that is set by hand, and programs that are only noted."""

    now: float = 100.0
    spawned: list[tuple[str, str]] = field(default_factory=list)
    broken: bool = False

    def spawn(self, command: Sequence[str], log: str) -> int:
        if self.broken:
            raise FileNotFoundError(2, "No such file or directory", command[0])
        self.spawned.append((command[0], log))
        # Numbers that no process has, so that no signal reaches anybody.
        return 2**22 + len(self.spawned)

    @property
    def pid(self) -> int:
        return 2**22 + len(self.spawned)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def components(world: World) -> Components:
    return Components("/log", spawn=world.spawn, clock=lambda: world.now)


def test_a_component_is_started_once(components: Components, world: World) -> None:
    components.start("etcd", ["etcd", "--x"])
    components.start("etcd", ["etcd", "--x"])
    assert world.spawned == [("etcd", "/log/etcd.log")]
    assert components.start_due() is None
    with pytest.raises(ValueError, match="another command line"):
        components.start("etcd", ["etcd", "--y"])


def test_an_ended_component_starts_again_after_a_pause_that_grows(components: Components, world: World) -> None:
    components.start("etcd", ["etcd"])
    pauses: list[float] = []
    for _ in range(8):
        components.ended(world.pid, KILLED)
        pause = components.start_due()
        assert pause is not None
        pauses.append(pause)
        world.now += pause
        assert components.start_due() is None
    assert pauses == pytest.approx([0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 10.0, 10.0])
    assert components.listed() == [{"name": "etcd", "pid": world.pid, "restarts": 8}]


def test_a_steady_component_is_forgiven(components: Components, world: World) -> None:
    components.start("etcd", ["etcd"])
    for _ in range(3):
        components.ended(world.pid, KILLED)
        world.now += components.start_due() or 0
        components.start_due()
    world.now += 31
    components.ended(world.pid, KILLED)
    assert components.start_due() == pytest.approx(0.3)


def test_a_stopped_component_stays_away(components: Components, world: World) -> None:
    components.start("prometheus", ["prometheus"])
    components.stop("prometheus")
    assert [each["name"] for each in components.listed()] == ["prometheus"]
    components.ended(world.pid, 0)
    assert components.listed() == []
    assert components.start_due() is None
    components.stop("prometheus")


def test_a_component_that_waits_to_start_again_can_be_stopped(components: Components, world: World) -> None:
    components.start("prometheus", ["prometheus"])
    components.ended(world.pid, KILLED)
    components.stop("prometheus")
    assert components.listed() == []


def test_a_program_that_is_missing_is_tried_again(components: Components, world: World) -> None:
    world.broken = True
    components.start("etcd", ["etcd"])
    assert components.listed() == [{"name": "etcd", "pid": 0, "restarts": 0}]
    world.broken = False
    world.now += components.start_due() or 0
    components.start_due()
    assert world.spawned == [("etcd", "/log/etcd.log")]


def test_orphans_are_only_taken_note_of(components: Components, world: World) -> None:
    components.start("etcd", ["etcd"])
    components.ended(4711, 0)
    assert components.start_due() is None
    assert len(world.spawned) == 1


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = plan.Plan(
        hostname="shop-1",
        cgroups=["/sys/fs/cgroup/memory/itbc-run.shop/system"],
        program="/cache/node",
        program_names=["etcd"],
        cni_programs="/usr/lib/cni",
        address="10.200.0.2",
        prefix=30,
        guard="table inet guard {}",
        masks={"vm/panic_on_oom": "0"},
        sysctls={"net/ipv4/ip_forward": "1"},
        first=[plan.Start("etcd", ["etcd", "--name=node"])],
    )
    (tmp_path / "plan.json").write_text(made.to_json())
    assert plan.read(tmp_path / "plan.json") == made


SERVE = """
import socket, sys, os
from itbc.providers.embedded.supervisor import loop
from itbc.providers.embedded.supervisor.components import Components
os.chdir(sys.argv[1])
listener = socket.socket(socket.AF_UNIX)
listener.setblocking(False)
listener.bind("control.sock")
listener.listen()
loop.serve(Components("."), listener)
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Layout]:
    # Deeper than an address is long.
    layout = Layout(tmp_path / ("d" * 100) / ("e" * 100))
    layout.folder.mkdir(parents=True)
    with subprocess.Popen((sys.executable, "-I", "-c", SERVE, str(layout.folder))) as running:
        try:
            _eventually(layout.control.exists)
            yield layout
        finally:
            for each in control.listed(layout):
                control.stop(layout, each["name"])
            _eventually(lambda: not control.listed(layout))
            running.kill()


def test_programs_are_started_listed_and_stopped_over_the_socket(served: Layout) -> None:
    assert control.listed(served) == []
    control.start(served, "sleeper", ["sleep", "60"])
    (first,) = control.listed(served)
    assert (first["name"], first["restarts"]) == ("sleeper", 0)
    os.kill(first["pid"], signal.SIGKILL)
    _eventually(lambda: control.listed(served)[0]["restarts"] == 1 and control.listed(served)[0]["pid"])
    control.stop(served, "sleeper")
    _eventually(lambda: not control.listed(served))


def test_output_goes_to_a_log(served: Layout) -> None:
    control.start(served, "speaker", ["sh", "-c", "echo hello; exec sleep 60"])
    log = served.folder / "speaker.log"
    _eventually(lambda: log.exists() and log.read_text() == "hello\n")


def test_refusals_come_back_in_words(served: Layout) -> None:
    control.start(served, "sleeper", ["sleep", "60"])
    with pytest.raises(EmbeddedError, match="refused to start: sleeper is running already"):
        control.start(served, "sleeper", ["sleep", "61"])


def test_a_missing_supervisor_is_said(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedError, match="can't be reached"):
        control.listed(Layout(tmp_path))
    with pytest.raises(EmbeddedError, match="is gone"):
        control.listed(Layout(tmp_path / "none"))


def test_the_first_process_starts_without_anything_but_the_standard_library() -> None:
    code = "import sys, itbc.providers.embedded.supervisor.__main__; print(*sys.modules)"
    done = subprocess.run((sys.executable, "-I", "-c", code), capture_output=True, text=True, check=True)
    heavy = {"httpx", "cryptography", "grpc", "tf", "msgspec", "kubernetes"}
    assert heavy.isdisjoint(name.partition(".")[0] for name in done.stdout.split())


def _eventually(holds: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
