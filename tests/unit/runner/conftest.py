"""What the runner's tests share: a toy resource that lives in files, a real Terraform, a workshop."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tf import schema, types
from tf.iface import CreateContext, DeleteContext, ReadContext, Resource, UpdateContext

from itbc.contracts.environment import Environment, Stack, Task
from itbc.contracts.evaluation import Evaluation, Truth
from itbc.contracts.manifest import Manifest
from itbc.contracts.shape import Origin, to_json, write
from itbc.providers.services import Services
from itbc.runner.artefacts import Artefacts, load
from itbc.runner.home import Home
from itbc.runner.leftovers.sweepers import SWEEPERS
from itbc.runner.observer import Silent
from itbc.runner.session import Workshop
from itbc.runner.surroundings import Tools
from itbc.runner.waiting import Patience

State = dict[str, Any]


class Toy(Resource):  # type: ignore[misc]
    """A file called like the resource. `mode` says how creating goes: `fine`, `raise` (after creating), `slow`."""

    def __init__(self, services: Services) -> None:
        self.services = services

    @classmethod
    def get_name(cls) -> str:
        return "toy"

    @classmethod
    def get_schema(cls) -> schema.Schema:
        return schema.Schema(
            version=0,
            attributes=[
                schema.Attribute("folder", types.String(), required=True, requires_replace=True),
                schema.Attribute("mode", types.String(), required=True, requires_replace=True),
                schema.Attribute("id", types.String(), computed=True),
            ],
        )

    def create(self, ctx: CreateContext, planned: State) -> State:  # noqa: ARG002
        path = Path(planned["folder"]) / "toy"
        self.services.ledger.intent("toy", str(path), {"path": str(path)})
        path.write_text("toy")
        self.services.ledger.created("toy", str(path))
        if planned["mode"] == "raise":
            raise RuntimeError("broke after creating")
        if planned["mode"] == "slow":
            (path.parent / "creating").touch()
            threading.Event().wait(1.5)
        return {**planned, "id": str(path)}

    def read(self, ctx: ReadContext, current: State) -> State | None:  # noqa: ARG002
        return current if (Path(current["folder"]) / "toy").exists() else None

    def update(self, ctx: UpdateContext, current: State, planned: State) -> State:  # noqa: ARG002
        return planned

    def delete(self, ctx: DeleteContext, current: State) -> None:  # noqa: ARG002
        if current["mode"] == "sticky":
            raise RuntimeError("can't be removed")
        path = Path(current["folder"]) / "toy"
        path.unlink(missing_ok=True)
        self.services.ledger.gone("toy", str(path))


def sweep_toy(identity: str, details: Mapping[str, Any]) -> Sequence[str]:
    path = Path(details["path"])
    if not path.exists():
        return []
    path.unlink()
    return [f"toy {identity}"]


@pytest.fixture(scope="session")
def terraform_program() -> Path:
    found = shutil.which("terraform")
    assert found, "tests/conftest.py puts it on PATH"
    return Path(found)


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A temporary folder whose path is short enough for sockets."""
    return tmp_path_factory.mktemp("h")


@pytest.fixture
def workshop(short: Path, terraform_program: Path) -> Workshop:
    home = Home.from_environment({"ITBC_HOME": str(short / "i"), "ITBC_CACHE": str(short / "c")})
    return Workshop(
        home=home,
        tools=Tools(
            terraform=terraform_program,
            kubectl=Path("/bin/false"),
            resources=[Toy],
            sweepers={"toy": sweep_toy, **SWEEPERS},
            running={"embedded": lambda _: {}},
        ),
        variables=dict(os.environ),
        observer=Silent(),
        patience=Patience(),
        last_patience=Patience(),
        now=lambda: datetime.now(UTC),
        random=random.Random(1),  # noqa: S311
    )


def toy_stack(folder: Path, mode: str) -> dict[str, Any]:
    """A root module with one toy."""
    return {
        "terraform": {
            "backend": {"local": {"path": "terraform.tfstate"}},
            "required_providers": {"itbc": {"source": "itbc.local/itbc/itbc"}},
        },
        "variable": {"run_id": {"type": "string"}},
        "resource": {"itbc_toy": {"it": {"folder": str(folder), "mode": mode}}},
        "output": {"toy": {"value": "${itbc_toy.it.id}"}, "run": {"value": "${var.run_id}"}},
    }


def toy_artefacts(folder: Path, thing: Path, mode: str = "fine") -> Artefacts:
    """A compiled scenario without clusters: one stack with one toy, nothing to break, nothing to judge."""
    stack = folder / "terraform" / "one"
    stack.mkdir(parents=True)
    (stack / "main.tf.json").write_text(json.dumps(toy_stack(thing, mode)))
    environment = Environment(
        scenario="toy",
        target="embedded",
        stacks=[Stack(id="one", folder="terraform/one")],
        clusters=[],
        baseline=[],
        faults=[],
        alerts=[],
        task=Task(goal="Look.", within_seconds=20.0, grants=[]),
        solution=[],
    )
    evaluation = Evaluation(
        scenario="toy", truth=Truth(root_causes=[], chain=[], topology=[]), objectives=[], safeguards=[]
    )
    write(folder / "environment.json", environment)
    write(folder / "evaluation.json", evaluation)
    files = {str(path.relative_to(folder)): digest(path) for path in sorted(folder.rglob("*.json"))}
    origin = Origin(file="scenario.itb", line=3, column=5)
    manifest = Manifest(
        compiler="0",
        scenario="toy",
        title="A toy",
        persona="sre",
        target="embedded",
        files=files,
        origins={"one/itbc_toy.it": origin},
    )
    (folder / "manifest.json").write_bytes(to_json(manifest))
    return load(folder)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
