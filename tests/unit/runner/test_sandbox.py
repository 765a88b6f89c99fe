from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from itbc.runner.failures import Interrupted
from itbc.runner.leftovers.ledger import FileLedger, leftovers
from itbc.runner.leftovers.sweepers import sweep_process
from itbc.runner.processes import alive, identify, own_identity
from itbc.runner.sandbox.programs import OutOfTime, Sandbox, user_of
from itbc.runner.sandbox.view import PRIVATE, Needs, closed_ancestor, view
from itbc.runner.waiting import Patience

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces and other users need root")

RUN = "20261201-101500-ab12"


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "agent" / "work"
        self.work.mkdir(parents=True)
        os.chown(self.work, user_of(RUN), user_of(RUN))
        self.secret = folder / "checkout" / "secret"
        self.secret.mkdir(parents=True)
        (self.secret / "truth").write_text("it was the gardener")
        self.ledger_path = folder / "ledger.jsonl"
        self.out, self.err = folder / "out", folder / "err"
        self.patience = Patience()

    @property
    def sandbox(self) -> Sandbox:
        return Sandbox(
            run=RUN,
            user=user_of(RUN),
            folder=self.work,
            environment={"PATH": "/usr/bin:/bin", "HOME": str(self.work)},
            view=view(Needs([self.folder / "agent"]), [self.folder / "checkout"], [self.secret]),
            ledger=FileLedger(self.ledger_path, own_identity(), "2030-01-01T00:00:00+00:00"),
        )

    def sh(self, script: str, seconds: float = 20.0, more: Mapping[str, Any] | None = None) -> tuple[int, str]:
        given: dict[str, Any] = {"stdin": b"", **(more or {})}
        deadline = self.patience.monotonic() + seconds
        ended = self.sandbox.execute(
            ["sh", "-c", script], (self.out, self.err), self.patience, deadline=deadline, **given
        )
        return ended.code, ended.output.decode()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_it_is_an_own_user_in_its_own_world(place: Place) -> None:
    code, said = place.sh("id -u; id -G; pwd; ls /proc | grep -c '^[0-9]'; env | sort")
    lines = said.splitlines()
    user = str(user_of(RUN))
    assert code == 0
    assert lines[:3] == [user, user, str(place.work)]
    assert int(lines[3]) < 8
    assert lines[4:] == [f"HOME={place.work}", "PATH=/usr/bin:/bin", f"PWD={place.work}"]


def test_the_truth_is_covered_even_where_its_place_is_known(place: Place) -> None:
    code, said = place.sh(
        f"cat {place.secret}/truth; ls {place.secret}; cat /proc/1/environ /proc/1/cmdline /proc/1/mem"
    )
    assert code != 0
    assert "gardener" not in said
    assert "secret" not in said


def test_a_program_can_be_anywhere_and_sees_whats_beside_it_but_not_whats_secret(place: Place) -> None:
    # The folder of the test is closed to others, as /root is.
    place.folder.chmod(0o700)
    checkout = place.folder / "checkout"
    for folder in (place.folder / "agents", checkout / "agents", checkout, place.secret):
        folder.mkdir(exist_ok=True)
        (folder / "module").write_text("beside")
        program = folder / "agent"
        program.write_text('#!/bin/sh\nhere="$(dirname "$0")"; cat "$here/module"; ls "$1"\n')
        program.chmod(0o755)
        needs = Needs([place.folder / "agent"], [program])
        sandbox = replace(place.sandbox, view=view(needs, [checkout], [place.secret]))
        ended = sandbox.execute(
            [str(program), str(place.secret)],
            (place.out, place.err),
            place.patience,
            deadline=place.patience.monotonic() + 20,
        )
        assert ended.code not in {126, 127}, place.err.read_text()
        shown = ended.output.decode().replace("agent\n", "")
        assert shown == ("beside" if folder.name == "agents" else ""), folder
        assert "truth" not in place.err.read_text()


def test_the_topmost_closed_folder_is_what_is_covered() -> None:
    assert closed_ancestor(Path("/usr/bin/env")) is None
    with tempfile.TemporaryDirectory() as closed:
        inner = Path(closed) / "a" / "b"
        inner.mkdir(parents=True, mode=0o700)
        assert closed_ancestor(inner / "program") == Path(closed)
        Path(closed).chmod(0o755)
        assert closed_ancestor(inner / "program") == inner


def test_it_cant_get_its_rights_back(place: Place) -> None:
    code, _ = place.sh("umount /tmp || mount -t tmpfs x /mnt || chown 0 . || kill -9 1")
    assert code != 0
    assert "NoNewPrivs:\t1" in place.sh("grep NoNewPrivs /proc/self/status")[1]


def test_exit_codes_come_through(place: Place) -> None:
    assert place.sh("exit 7")[0] == 7
    assert place.sh("kill -TERM $$")[0] == 128 + signal.SIGTERM
    ended = place.sandbox.execute(
        ["nobody-has-this"], (place.out, place.err), place.patience, deadline=place.patience.monotonic() + 20
    )
    assert ended.code == 127
    assert "No such file" in place.err.read_text()


def test_stdin_and_output_are_kept(place: Place) -> None:
    assert place.sh("cat; echo bad >&2", more={"stdin": b"hello"}) == (0, "hello")
    assert place.out.read_text() == "hello"
    assert place.err.read_text() == "bad\n"


def test_output_is_limited(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itbc.runner.sandbox.streams.OUTPUT_LIMIT", 1000)
    assert place.sh("head -c 3000000 /dev/zero")[0] == 0
    assert place.out.stat().st_size == 1000


def test_what_it_leaves_running_ends_with_it(place: Place) -> None:
    assert place.sh("setsid sleep 4242 & echo")[0] == 0
    assert not _runs("sleep 4242")


def test_time_is_over(place: Place) -> None:
    with pytest.raises(OutOfTime):
        place.sh("setsid sleep 4243 & trap '' TERM INT; sleep 4243", seconds=0.7)
    assert not _runs("sleep 4243")
    assert leftovers(place.ledger_path) == []


def test_a_wish_to_stop_ends_it(place: Place) -> None:
    threading.Timer(0.5, place.patience.stop.set).start()
    with pytest.raises(Interrupted):
        place.sh("sleep 4244")
    assert not _runs("sleep 4244")


def test_files_in_tmp_are_gone_afterwards(place: Place) -> None:
    name = f"itbc-test-{os.getpid()}"
    assert place.sh(f"touch /tmp/{name} /var/tmp/{name} /dev/shm/{name}")[0] == 0
    assert not any((folder / name).exists() for folder in PRIVATE)


LOOK_FOR_KEY = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
request = {"x86_64": 249}.get(os.uname().machine, 218)
print("key" if libc.syscall(request, b"user", b"itbc-test", None, 0) > 0 else "no key")
"""

KEYRING = """
import ctypes, os, pathlib, sys
sys.path.insert(0, sys.argv[1])
from test_sandbox import LOOK_FOR_KEY, Place
from itbc.runner.sandbox.syscalls import NUMBERS
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(NUMBERS[os.uname().machine].keyctl, 1, None)
add = {"x86_64": 248}.get(os.uname().machine, 217)
SESSION = -3
key = libc.syscall(add, b"user", b"itbc-test", b"secret", 6, SESSION)
assert key > 0, os.strerror(ctypes.get_errno())
# Whoever has the keyring may see, search and read it.
assert libc.syscall(NUMBERS[os.uname().machine].keyctl, 5, key, 0x3F3F0000) == 0
exec(LOOK_FOR_KEY)
place = Place(pathlib.Path(sys.argv[2]))
(place.work / "look.py").write_text(LOOK_FOR_KEY)
print(place.sh("python3 look.py; grep -c itbc-test /proc/keys")[1])
"""


def test_the_keys_of_whoever_started_it_are_not_the_agents(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", KEYRING, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.split("\n")[:3] == ["key", "no key", "0"]


KILLED = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from test_sandbox import Place
place = Place(pathlib.Path(sys.argv[2]))
print("begun", flush=True)
place.sh("echo agent >&2; sleep 4245", 60)
"""


def test_it_dies_with_its_runner(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(tmp_path)], stdout=subprocess.PIPE
    ) as runner:
        _until(lambda: _runs("sleep 4245"))
        runner.send_signal(signal.SIGKILL)
    _until(lambda: not _runs("sleep 4245"))
    (entry,) = leftovers(tmp_path / "ledger.jsonl")
    assert sweep_process(entry.identity, entry.details) == []


def test_the_sweeper_ends_exactly_that_process() -> None:
    with subprocess.Popen(["sleep", "4246"]) as process:
        found = identify(process.pid)
        assert found
        assert sweep_process("x", {"pid": found.pid, "started": found.started + 1}) == []
        assert alive(found)
        assert sweep_process("x", {"pid": found.pid, "started": found.started}) == ["agent process x"]
    assert sweep_process("x", {"pid": found.pid, "started": found.started}) == []


def _runs(command: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if said == command:
            return True
    return False


def _until(condition: Any) -> None:
    Patience().until(lambda: True if condition() else None, 20, every=0.05)
