from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from itbc.contracts.shape import Origin
from itbc.runner.outside.blame import blame_terraform
from itbc.runner.outside.terraform import RootModule, Terraform, TerraformError, TerraformInterrupted, TerraformTimeout


def module(tmp_path: Path, body: dict[str, Any]) -> RootModule:
    files = tmp_path / "files"
    files.mkdir()
    (files / "main.tf.json").write_text(
        json.dumps({"terraform": {"backend": {"local": {"path": "terraform.tfstate"}}}, **body})
    )
    return RootModule(files, tmp_path / "data")


@pytest.fixture
def terraform(terraform_program: Path, tmp_path: Path) -> Terraform:
    return Terraform(terraform_program, tmp_path, {**os.environ, "TF_CLI_ARGS": "-nonsense", "TF_LOG": "trace"})


def sleeping(seconds: float) -> dict[str, Any]:
    command = {"local-exec": {"command": f"sleep {seconds}"}}
    return {"resource": {"terraform_data": {"slow": {"provisioner": [command]}}}}


def test_applies_outputs_plans_and_destroys_without_touching_the_module(terraform: Terraform, tmp_path: Path) -> None:
    root = module(
        tmp_path,
        {
            "variable": {"word": {"type": "string"}},
            "resource": {"terraform_data": {"it": {"input": "${var.word}"}}},
            "output": {"word": {"value": "${terraform_data.it.output}"}},
        },
    )
    events: list[dict[str, Any]] = []
    terraform.init(root)
    terraform.apply(root, {"word": "hello"}, events.append, 60)
    assert terraform.outputs(root) == {"word": "hello"}
    assert {"apply_start", "apply_complete", "change_summary"} <= {event["type"] for event in events}
    assert not terraform.has_drifted(root, {"word": "hello"})
    assert terraform.has_drifted(root, {"word": "bye"})
    terraform.destroy(root, {"word": "hello"}, events.append, 60)
    assert json.loads(root.state.read_text())["resources"] == []
    assert [path.name for path in root.files.iterdir()] == ["main.tf.json"]


def test_events_arrive_while_terraform_runs(terraform: Terraform, tmp_path: Path) -> None:
    root = module(tmp_path, sleeping(1))
    arrived: dict[str, float] = {}
    terraform.init(root)

    def on_event(event: dict[str, Any]) -> None:
        arrived.setdefault(event["type"], time.monotonic())

    terraform.apply(root, {}, on_event, 60)
    assert arrived["apply_complete"] - arrived["apply_start"] > 0.5


def test_a_failure_names_the_resource_and_its_place_in_the_scenario(terraform: Terraform, tmp_path: Path) -> None:
    command = {"local-exec": {"command": "echo no >&2; exit 7"}}
    root = module(tmp_path, {"resource": {"terraform_data": {"bad": {"provisioner": [command]}}}})
    terraform.init(root)
    with pytest.raises(TerraformError) as caught:
        terraform.apply(root, {}, lambda _: None, 60)
    assert caught.value.diagnostics[0].address == "terraform_data.bad"
    origin = Origin(file="scenario.itb", line=7, column=3)
    failure = blame_terraform(caught.value, "one", {"one/terraform_data.bad": origin})
    assert failure.fault == "environment"
    assert failure.origin == origin
    assert "exit status 7" in failure.message


def test_wrong_configuration_is_told_by_init(terraform: Terraform, tmp_path: Path) -> None:
    root = module(tmp_path, {"resource": {"nobody_knows": {"it": {}}}})
    with pytest.raises(TerraformError) as caught:
        terraform.init(root)
    assert "nobody" in " ".join(each.detail + each.summary for each in caught.value.diagnostics)


def test_stop_interrupts_once_and_keeps_what_exists(
    terraform_program: Path, tmp_path: Path, terraform: Terraform
) -> None:
    stop = threading.Event()
    interruptible = Terraform(terraform_program, tmp_path, dict(os.environ), stop=stop)
    root = module(tmp_path, sleeping(30))
    terraform.init(root)

    def on_event(event: dict[str, Any]) -> None:
        if event["type"] == "provision_start":
            stop.set()

    begin = time.monotonic()
    with pytest.raises(TerraformInterrupted):
        interruptible.apply(root, {}, on_event, 60)
    assert time.monotonic() - begin < 15
    state = json.loads(root.state.read_text())
    assert [each["name"] for each in state["resources"]] == ["slow"]
    terraform.destroy(root, {}, on_event, 60)


def test_too_slow_is_stopped_and_told(terraform: Terraform, tmp_path: Path) -> None:
    root = module(tmp_path, sleeping(30))
    terraform.init(root)
    begin = time.monotonic()
    with pytest.raises(TerraformTimeout):
        terraform.apply(root, {}, lambda _: None, 1.0)
    assert time.monotonic() - begin < 15


def test_a_missing_program_is_told(tmp_path: Path) -> None:
    root = module(tmp_path, {})
    with pytest.raises(TerraformError, match="can't start"):
        Terraform(tmp_path / "nowhere", tmp_path, {}).init(root)
