"""What a killed runner leaves of a cluster is found and removed, at whatever moment it was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from itbc.providers.embedded.destroy import destroy
from itbc.providers.embedded.layout import Layout
from itbc.providers.embedded.spec import cgroup_name
from itbc.providers.embedded.sweep import sweep

pytestmark = pytest.mark.e2e

KUBECTL = str(Path(sys.executable).parent / "kubectl")

BOOT = """
import json, sys
from pathlib import Path
from itbc.providers.embedded.boot import boot
from itbc.providers.embedded.spec import ClusterSpec
from itbc.providers.services import Services

class Ledger:
    def intent(self, kind, identity, details): print(json.dumps([identity, dict(details)]), flush=True)
    def created(self, kind, identity): print("created", flush=True)
    def gone(self, kind, identity): pass

folder, name, cache = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
boot(
    ClusterSpec(name, sys.argv[4], folder, "2999-01-01T00:00:00Z"),
    Services(home=folder, cache=cache, ledger=Ledger(), progress=lambda line: print(line, file=sys.stderr)),
)
"""

RUN = f"sweep-{os.getpid()}"

MOMENTS: dict[str, Callable[[Path], bool]] = {
    "the folder is there": lambda folder: folder.exists(),
    "the keys are written": lambda folder: Layout(folder).etc.exists(),
    "the plan is written": lambda folder: Layout(folder).plan.exists(),
    "the node host is recorded": lambda folder: Layout(folder).host.exists(),
    "the programs run": lambda folder: (Layout(folder).logs / "kube-apiserver.log").exists(),
    "pods run": lambda folder: any((Layout(folder).logs / "pods").glob("*")),
}


def _booting(folder: Path, name: str) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    cache = os.environ.get("ITBC_CACHE", "/var/cache/itbc")
    with (folder / f"{name}.log").open("w") as log:
        return subprocess.Popen(
            (sys.executable, "-c", BOOT, str(folder), name, cache, RUN),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


@pytest.mark.parametrize("moment", MOMENTS)
def test_sweep_after_a_kill(moment: str, tmp_path: Path, machine: ModuleType) -> None:
    before = machine.snapshot(RUN)
    folder = tmp_path / "killed"
    with _booting(tmp_path, "killed") as runner:
        assert runner.stdout is not None
        first = runner.stdout.readline()
        assert first, (tmp_path / "killed.log").read_text()
        identity, details = json.loads(first)
        try:
            deadline = time.monotonic() + 60
            while not MOMENTS[moment](folder):
                assert runner.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.001)
            runner.send_signal(signal.SIGKILL)
        finally:
            runner.kill()
            runner.wait()
    removed = sweep(identity, details)
    assert any("state folder" in line for line in removed)
    assert sweep(identity, details) == []
    assert machine.settled(before, RUN) == []


def test_two_clusters_at_once_and_apart(tmp_path: Path, machine: ModuleType) -> None:
    before = machine.snapshot(RUN)
    with _booting(tmp_path, "one") as one, _booting(tmp_path, "two") as two:
        runners = {"one": one, "two": two}
        try:
            for runner in runners.values():
                assert runner.wait(120) == 0
            addresses = {json.loads(Layout(tmp_path / name).record.read_text())["address"] for name in runners}
            assert len(addresses) == 2
            destroy(f"{RUN}.one", tmp_path / "one")
            nodes = subprocess.run(
                (KUBECTL, "--kubeconfig", str(Layout(tmp_path / "two").kubeconfig), "get", "nodes", "-o", "name"),
                capture_output=True,
                text=True,
                check=False,
            )
            assert nodes.stdout == "node/two-1\n", nodes.stderr
        finally:
            for name, runner in runners.items():
                runner.kill()
                destroy(f"{RUN}.{name}", tmp_path / name)
    assert machine.settled(before, RUN) == []


def test_another_clusters_folder_is_not_touched(tmp_path: Path) -> None:
    record = {
        "identity": "run-a.shop",
        "name": "shop",
        "node_name": "shop-1",
        "address": "10.200.0.2",
        "link": "itbc0",
        "range": "10.200.0.0/16",
        "program": "/nowhere",
        "expires": "2999-01-01T00:00:00Z",
    }
    folder = tmp_path / "shop"
    folder.mkdir()
    Layout(folder).record.write_text(json.dumps(record))
    with pytest.raises(Exception, match=r"run-a\.shop, not of run-b\.shop"):
        sweep("run-b.shop", {"state": str(folder)})
    assert folder.exists()
    assert cgroup_name("run-b.shop") == "itbc-run-b.shop"
