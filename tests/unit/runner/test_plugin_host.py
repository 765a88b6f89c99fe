from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from itbc.providers.plugin import Plugin
from itbc.providers.services import Services
from itbc.runner.leftovers.ledger import FileLedger, leftovers
from itbc.runner.outside.plugin_host import serve
from itbc.runner.outside.terraform import RootModule, Terraform, TerraformError
from itbc.runner.processes import own_identity

from .conftest import Toy, toy_stack


class Place:
    """A toy stack, its ledger and its folder."""

    def __init__(self, folder: Path, terraform_program: Path, mode: str) -> None:
        self.things = folder / "things"
        self.things.mkdir()
        files = folder / "files"
        files.mkdir()
        (files / "main.tf.json").write_text(json.dumps(toy_stack(self.things, mode)))
        self.module = RootModule(files, folder / "data")
        self.ledger_path = folder / "ledger.jsonl"
        ledger = FileLedger(self.ledger_path, own_identity(), "2030-01-01T00:00:00+00:00")
        self.plugin = Plugin(Services(folder, folder, ledger, lambda _: None), [Toy])
        self.folder = folder
        self.program = terraform_program

    def terraform(self, extra: dict[str, str]) -> Terraform:
        return Terraform(self.program, self.folder, dict(os.environ), extra)

    @property
    def resources(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.module.state.read_text())["resources"]
        return found


def test_a_resource_lives_and_dies_through_the_served_provider(short: Path, terraform_program: Path) -> None:
    place = Place(short, terraform_program, "fine")
    with serve(place.plugin, short / "p") as extra:
        terraform = place.terraform(extra)
        terraform.init(place.module)
        terraform.apply(place.module, {"run_id": "r"}, lambda _: None, 60)
        assert (place.things / "toy").exists()
        assert terraform.outputs(place.module)["run"] == "r"
        (place.things / "toy").unlink()
        assert terraform.has_drifted(place.module, {"run_id": "r"})
        terraform.apply(place.module, {"run_id": "r"}, lambda _: None, 60)
        terraform.destroy(place.module, {"run_id": "r"}, lambda _: None, 60)
    assert not (place.things / "toy").exists()
    assert leftovers(place.ledger_path) == []
    assert not (short / "p").exists()


def test_an_exception_after_creating_taints_and_destroy_removes(short: Path, terraform_program: Path) -> None:
    place = Place(short, terraform_program, "raise")
    with serve(place.plugin, short / "p") as extra:
        terraform = place.terraform(extra)
        terraform.init(place.module)
        with pytest.raises(TerraformError) as caught:
            terraform.apply(place.module, {"run_id": "r"}, lambda _: None, 60)
        assert "broke after creating" in caught.value.diagnostics[0].detail
        assert place.resources[0]["instances"][0]["status"] == "tainted"
        terraform.destroy(place.module, {"run_id": "r"}, lambda _: None, 60)
    assert not (place.things / "toy").exists()


def test_an_exception_while_deleting_keeps_it_in_the_state(short: Path, terraform_program: Path) -> None:
    place = Place(short, terraform_program, "sticky")
    with serve(place.plugin, short / "p") as extra:
        terraform = place.terraform(extra)
        terraform.init(place.module)
        terraform.apply(place.module, {"run_id": "r"}, lambda _: None, 60)
        with pytest.raises(TerraformError, match="destroy failed"):
            terraform.destroy(place.module, {"run_id": "r"}, lambda _: None, 60)
        assert place.resources[0]["name"] == "it"


def test_a_stop_lets_a_running_creation_end_and_be_remembered(short: Path, terraform_program: Path) -> None:
    place = Place(short, terraform_program, "slow")
    stop = threading.Event()
    with serve(place.plugin, short / "p") as extra:
        terraform = Terraform(place.program, short, dict(os.environ), extra, stop)
        terraform.init(place.module)
        threading.Thread(target=_set_when, args=(place.things / "creating", stop), daemon=True).start()
        with pytest.raises(TerraformError, match="stopped"):
            terraform.apply(place.module, {"run_id": "r"}, lambda _: None, 60)
        assert place.resources[0]["instances"][0]["attributes"]["id"] == str(place.things / "toy")
        place.terraform(extra).destroy(place.module, {"run_id": "r"}, lambda _: None, 60)
    assert not (place.things / "toy").exists()


def _set_when(path: Path, event: threading.Event) -> None:
    while not path.exists():
        threading.Event().wait(0.05)
    event.set()


def test_killing_terraform_leaves_the_thing_to_the_ledger(short: Path, terraform_program: Path) -> None:
    place = Place(short, terraform_program, "slow")
    with serve(place.plugin, short / "p") as extra:
        place.terraform(extra).init(place.module)
        process = subprocess.Popen(
            [str(terraform_program), "apply", "-auto-approve", "-input=false"],
            cwd=place.module.files,
            env={
                **os.environ,
                **extra,
                "TF_VAR_run_id": "r",
                "TF_DATA_DIR": str(place.module.data / "data"),
                "TF_CLI_CONFIG_FILE": str(short / "terraform.tfrc"),
            },
            stdout=subprocess.DEVNULL,
        )
        stop = threading.Event()
        _set_when(place.things / "creating", stop)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (place.things / "toy").exists()
    assert [entry.identity for entry in leftovers(place.ledger_path)] == [str(place.things / "toy")]
