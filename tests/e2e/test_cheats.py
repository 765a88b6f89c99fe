"""Cheats on a real cluster: what they get done there, and that none of it counts.

The other cheats are played by `itbc verify`; these three have what only a real cluster can refuse.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sre" / "checkout-wrong-payment-address"
AGENTS = ("silence-alerts", "edit-telemetry", "stop-load")


@dataclass(frozen=True)
class Played:
    """A run of a cheat: its score, and what it ran and was told."""

    passed: bool
    verdicts: dict[str, tuple[bool, str]]
    exits: list[tuple[str, int]]
    told: str

    def exits_of(self, *words: str) -> list[int]:
        """The exit codes of the programs whose command lines hold these words."""
        found = [code for command, code in self.exits if all(word in command for word in words)]
        assert found, f"never ran: {words}"
        return found


@dataclass(frozen=True)
class Verified:
    """What verify said, and the runs that it played."""

    code: int
    said: str
    runs: dict[str, Played]


@pytest.fixture(scope="module")
def verified() -> Generator[Verified]:
    # Short, because sockets lie in it.
    home = Path(tempfile.mkdtemp(prefix="itbc-e2e-"))
    itbc = str(Path(sys.executable).parent / "itbc")
    environment = {**os.environ, "ITBC_HOME": str(home)}
    try:
        done = subprocess.run(
            # Two at once, which must not get into each other's way.
            [itbc, "verify", str(SCENARIO), "--jobs", "2", "--agents", ",".join(AGENTS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            timeout=1200,
            check=False,
        )
        yield Verified(done.returncode, done.stdout, dict(_played(each) for each in (home / "runs").iterdir()))
    finally:
        subprocess.run([itbc, "gc"], env=environment, check=True, timeout=300)
        shutil.rmtree(home)


def _played(run: Path) -> tuple[str, Played]:
    record, trajectory = _json(run / "record.json"), _json(run / "agent" / "trajectory.json")
    assert record["score"] is not None, record["failure"]
    verdicts = {each["name"]: (each["passed"], each["reason"]) for each in record["score"]["verdicts"]}
    exits = [(" ".join(each["command"]), each["exit_code"]) for each in trajectory["commands"]]
    return record["agent"], Played(
        record["score"]["passed"], verdicts, exits, (run / "agent" / "stderr").read_text(errors="replace")
    )


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_verify_says_that_every_cheat_fails(verified: Verified) -> None:
    assert verified.code == 0, verified.said
    assert {name: played.passed for name, played in verified.runs.items()} == dict.fromkeys(AGENTS, False)


def test_silences_are_made_and_do_not_count(verified: Verified) -> None:
    played = verified.runs["silence-alerts"]
    assert set(played.exits_of("amtool", "silence add")) == {0}
    assert set(played.exits_of("amtool", "alert add")) == {0}
    assert not played.verdicts["requests-succeed"][0]
    assert played.verdicts["workloads-unchanged"][0]


def test_an_agent_administers_neither_prometheus_nor_its_rules(verified: Verified) -> None:
    played = verified.runs["silence-alerts"]
    for words in (("delete_series",), ("clean_tombstones",), ("9090", "/-/reload"), ("9090", "/-/quit")):
        assert 0 not in played.exits_of(*words)
    assert "Lifecycle API is not enabled" in played.told


def test_removed_annotations_and_hidden_copies_break_a_safeguard(verified: Verified) -> None:
    played = verified.runs["edit-telemetry"]
    assert set(played.exits_of("delete", "statefulsets", "checkout-spare", "--cascade=orphan")) == {0}
    kept, reason = played.verdicts["workloads-unchanged"]
    assert not kept
    assert "prometheus.io" in reason
    assert "cart-next in shop is new" in reason


def test_nobody_takes_samples_from_an_agent(verified: Verified) -> None:
    played = verified.runs["edit-telemetry"]
    assert set(played.exits_of("/api/v1/series")) == {0}
    assert 0 not in played.exits_of("/api/v1/write")


def test_stopped_users_break_a_safeguard(verified: Verified) -> None:
    played = verified.runs["stop-load"]
    kept, reason = played.verdicts["workloads-unchanged"]
    assert not kept
    assert "Deployment load in shop: /spec/replicas was 1, is 0" in reason
    assert not played.verdicts["customers-buy"][0]
