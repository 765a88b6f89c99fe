"""The scenario's whole life by the command line, with an agent that looks around, repairs and answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from types import ModuleType

import pytest
from program import Itbc, at_home

pytestmark = pytest.mark.e2e

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sre" / "checkout-wrong-payment-address"
NOBODY = "nobody-has-this-prefix"

AGENT = """#!/bin/sh
set -eu
for tool in kubectl sh; do command -v $tool >/dev/null; done
env | sort > seen.env
cat "$ITBC_GOAL"
kubectl get deployment checkout -o yaml
kubectl auth can-i create pods && exit 11
kubectl get secrets && exit 12
kubectl get nodes && exit 13
if ls "$1"; then exit 14; fi
if ls "$2"; then exit 15; fi
test "$(id -u)" != 0 || exit 16
kubectl set env deployment/checkout PAYMENT_ADDR=payment:8080
kubectl rollout status deployment/checkout --timeout=90s
cat > "$ITBC_ANSWER" <<END
{"root_causes": ["Deployment/checkout"], "explanation": "it called port 9999"}
END
"""


@pytest.fixture
def itbc() -> Generator[Itbc]:
    with at_home() as program:
        yield program


def test_an_agent_that_repairs_it_passes_and_nothing_is_left(itbc: Itbc, tmp_path: Path, machine: ModuleType) -> None:
    agent = tmp_path / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    before = machine.snapshot(NOBODY)
    code, said = itbc.call(
        "run", str(SCENARIO), "--agent", "command", "--", str(agent), str(SCENARIO), str(itbc.home / "runs")
    )
    assert code == 0, said
    run = itbc.run
    assert machine.settled(before, run.name) == []
    record = json.loads((run / "record.json").read_text())
    assert (record["state"], record["destroyed"], record["failure"]) == ("done", True, None)
    score = record["score"]
    assert (score["passed"], score["diagnosed"], score["diagnosis"], score["mitigation"]) == (True, True, 1.0, 1.0)
    assert json.loads((run / "score.json").read_text()) == score
    evidence = json.loads((run / "evidence.json").read_text())
    assert evidence["agent"]["outcome"] == "finished"
    (alert,) = evidence["alerts"]
    assert (alert["name"], alert["labels"]["service"]) == ("HighRequestErrorRate", "frontend")
    assert 0 < alert["after_seconds"] < 180
    stdout = (run / "agent" / "stdout").read_text()
    assert "can't buy anything" in stdout
    # What an agent sees must not give away what was broken, or that anything was on purpose.
    assert "PAYMENT_ADDR" in stdout
    assert not re.findall(r"\b(?:fault|inject|wrong-address|chaos|scenario)\w*", stdout.lower())
    assert list((itbc.home / "agents").iterdir()) == []
    assert list((itbc.home / "ledger").iterdir()) == []
    assert (run / "junit.xml").read_text().startswith("<?xml")
    again, text = itbc.call("evaluate", run.name)
    assert again == 0
    assert "PASSED" in text
    assert json.loads((run / "score.json").read_text()) == score
    # As on another machine: another path, another home, nothing but the run's files.
    scored = (run / "score.json").read_bytes()
    elsewhere = Path(shutil.copytree(run, tmp_path / "elsewhere"))
    (elsewhere / "score.json").unlink()
    shutil.rmtree(run)
    itbc.environment["ITBC_HOME"] = str(tmp_path / "h")
    again, text = itbc.call("evaluate", str(elsewhere))
    assert again == 0, text
    assert (elsewhere / "score.json").read_bytes() == scored


def test_apply_inject_destroy(itbc: Itbc, machine: ModuleType) -> None:
    before = machine.snapshot(NOBODY)
    code, said = itbc.call("apply", str(SCENARIO))
    assert code == 0, said
    run = itbc.run
    kubeconfig = run / "clusters" / "shop" / "admin.kubeconfig"
    assert str(kubeconfig) in said
    got = subprocess.run(
        ["kubectl", f"--kubeconfig={kubeconfig}", "-n", "shop", "get", "deployments", "-o", "name"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "deployment.apps/checkout" in got.stdout
    assert itbc.call("gc") == (0, "nothing to remove\n")
    code, said = itbc.call("inject", run.name)
    assert code == 0, said
    assert "HighRequestErrorRate fired" in said
    code, said = itbc.call("destroy", run.name)
    assert code == 0, said
    assert machine.settled(before, run.name) == []
    code, said = itbc.call("destroy", run.name)
    assert code == 0, said
    assert "nothing is left" in said
    assert itbc.call("inject", run.name)[0] != 0


def test_ctrl_c_while_the_agent_works_destroys(itbc: Itbc, machine: ModuleType) -> None:
    before = machine.snapshot(NOBODY)
    with itbc.start("run", str(SCENARIO), "--agent", "command", "--", "sleep", "600") as process:
        itbc.until_step("agent", process)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 4, said
    assert "stopping: the environment will be destroyed" in said
    assert machine.settled(before, itbc.run.name) == []
    record = json.loads((itbc.run / "record.json").read_text())
    assert (record["destroyed"], record["failure"]["fault"]) == (True, "interrupted")
    assert list((itbc.home / "ledger").iterdir()) == []


def test_terraform_killed_in_mid_apply_is_the_environments_failure_and_nothing_is_left(
    itbc: Itbc, machine: ModuleType
) -> None:
    before = machine.snapshot(NOBODY)
    with itbc.start("run", str(SCENARIO), "--agent", "noop") as process:
        itbc.until_step("provision", process)
        os.kill(_applying(itbc.run, process), signal.SIGKILL)
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 4, said
    assert machine.settled(before, itbc.run.name) == []
    record = json.loads((itbc.run / "record.json").read_text())
    assert (record["destroyed"], record["score"]) == (True, None)
    assert (record["failure"]["stage"], record["failure"]["fault"]) == ("provisioning", "environment")
    assert "terraform apply failed" in record["failure"]["message"]
    assert "Traceback" not in said
    assert list((itbc.home / "ledger").iterdir()) == []


def _applying(run: Path, process: subprocess.Popen[str], seconds: float = 120.0) -> int:
    """The process of a `terraform apply` of a run, as soon as it has told the ledger of a cluster."""
    deadline = time.monotonic() + seconds
    while True:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "terraform never applied anything"
        ledger = run.parents[1] / "ledger" / f"{run.name}.jsonl"
        if ledger.exists() and "embedded-cluster" in ledger.read_text():
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    mine = (folder / "cwd").resolve().is_relative_to(run)
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if mine and words[0].endswith(b"terraform") and b"apply" in words:
                    return int(folder.name)
        time.sleep(0.05)
