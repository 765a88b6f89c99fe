"""Stacks through cdktn: once, in a child, the same bytes each time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from itbc.stacks import properties, synthesis
from itbc.stacks.make import normalised
from itbc.stacks.synthesis import Declaration, SynthesisError, synthesise

CLUSTER = Declaration("embedded_cluster:EmbeddedCluster", properties.EmbeddedCluster(id="cluster-a", name="a", nodes=1))
TELEMETRY = Declaration(
    "embedded_telemetry:EmbeddedTelemetry",
    properties.EmbeddedTelemetry(
        id="telemetry-a",
        cluster="a",
        rules="rules-a.yml",
        rules_digest="d",
        namespaces=["x", "${y}"],
        stores=["logs", "traces"],
    ),
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def made(cache: Path) -> dict[str, bytes]:
    return dict(synthesise([CLUSTER, TELEMETRY], cache))


def no_child(*_: object, **__: object) -> None:
    pytest.fail("a child was started")


def test_a_stack_is_what_its_properties_say(made: dict[str, bytes]):
    module = json.loads(made["cluster-a"])
    assert module["resource"] == {
        "itbc_embedded_cluster": {
            "a": {
                "name": "a",
                "nodes": 1,
                "run_id": "${var.run_id}",
                "state_dir": "${var.state_dir}",
                "expires": "${var.expires}",
            }
        }
    }
    assert set(module["output"]) == {"kubeconfig", "address", "cluster"}
    assert module["terraform"]["required_providers"] == {"itbc": {"source": "itbc.local/itbc/itbc"}}
    monitoring = json.loads(made["telemetry-a"])["resource"]["itbc_embedded_monitoring"]["a"]
    assert monitoring["namespaces"] == ["x", "$${y}"]


def test_what_is_cached_starts_no_child(made: dict[str, bytes], cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(subprocess, "run", no_child)
    assert synthesise([TELEMETRY, CLUSTER], cache) == {
        "telemetry-a": made["telemetry-a"],
        "cluster-a": made["cluster-a"],
    }


def test_only_what_is_missing_is_made(made: dict[str, bytes], cache: Path, monkeypatch: pytest.MonkeyPatch):
    seen: list[bytes] = []
    real = subprocess.run

    def run(*arguments: object, **options: object) -> object:
        seen.append(options["input"])  # type: ignore[arg-type]
        return real(*arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", run)
    other = Declaration(CLUSTER.construct, properties.EmbeddedCluster(id="cluster-b", name="b", nodes=1))
    both = synthesise([CLUSTER, other], cache)
    assert both["cluster-a"] == made["cluster-a"]
    (order,) = json.loads(seen[0])
    assert order["properties"]["id"] == "cluster-b"


@pytest.mark.usefixtures("made")
def test_only_its_owner_reads_what_is_cached(cache: Path):
    assert (cache / "stacks").stat().st_mode & 0o777 == 0o700


def test_a_damaged_or_unwritable_cache_is_no_obstacle(made: dict[str, bytes], tmp_path: Path):
    synthesise([CLUSTER], tmp_path)
    (kept,) = (tmp_path / "stacks").iterdir()
    kept.write_bytes(b"")
    assert synthesise([CLUSTER], tmp_path)["cluster-a"] == made["cluster-a"] == kept.read_bytes()
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert synthesise([CLUSTER], blocked)["cluster-a"] == made["cluster-a"]
    assert synthesise([CLUSTER], None)["cluster-a"] == made["cluster-a"]


def test_cdktn_stays_out_of_this_process():
    code = (
        "import sys, itbc.compiler, itbc.providers.embedded.target, itbc.stacks.synthesis;"
        "sys.exit(bool({'cdktn', 'jsii', 'constructs'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_child_that_fails_is_an_error_with_its_last_words():
    wrong = Declaration("embedded_cluster:Nothing", CLUSTER.properties)
    with pytest.raises(SynthesisError, match="has no attribute 'Nothing'"):
        synthesise([wrong], None)


def test_a_child_that_hangs_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(synthesis, "TIMEOUT_SECONDS", 0.01)
    with pytest.raises(SynthesisError, match="took more than"):
        synthesise([CLUSTER], None)


def test_the_form_does_not_vary_with_cdktns_release():
    text = '{"b": {"//": {"version": "1"}, "x": "é"}, "//": {}, "a": [{"//": 1, "y": 2}]}'
    assert normalised(text) == '{\n  "a": [\n    {\n      "y": 2\n    }\n  ],\n  "b": {\n    "x": "é"\n  }\n}\n'
