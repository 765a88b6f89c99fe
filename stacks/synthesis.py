"""From a stack's properties to its Terraform JSON, by cdktn in a process of its own.

cdktn needs Node, takes most of a second to start and leaves its Node running
for as long as the Python process lives. So it runs in a child that makes all
stacks that are missing in the cache, and ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from itbc.stacks.properties import Properties

TIMEOUT_SECONDS = 300.0
"""A first run on a machine unpacks cdktn; on a busy one that has taken half a minute."""


class SynthesisError(Exception):
    """The child that makes Terraform JSON failed. The message says why."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A stack to be made: the construct, as `MODULE:CLASS` in `itbc.stacks`, and what it is given."""

    construct: str
    properties: Properties


class Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the child is told: a declaration in JSON's words."""

    construct: str
    properties_type: str
    properties: dict[str, object]


def synthesise(declarations: Sequence[Declaration], cache: Path | None) -> Mapping[str, bytes]:
    """The `main.tf.json` of each stack by its id. `cache` is a folder that may be missing.

    Raises SynthesisError.
    """
    orders = {declaration.properties.id: _order(declaration) for declaration in declarations}
    keys = _keys(orders)
    made: dict[str, bytes] = {}
    for stack, key in keys.items():
        found = _cached(cache, key)
        if found is not None:
            made[stack] = found
    missing = {stack: order for stack, order in orders.items() if stack not in made}
    if missing:
        for stack, text in _run(list(missing.values())).items():
            made[stack] = text.encode()
            _keep(cache, keys[stack], made[stack])
    return {stack: made[stack] for stack in orders}


def _order(declaration: Declaration) -> Order:
    given = declaration.properties
    return Order(
        construct=declaration.construct,
        properties_type=type(given).__name__,
        properties=msgspec.to_builtins(given, order="deterministic"),
    )


def _keys(orders: Mapping[str, Order]) -> Mapping[str, str]:
    """The cache key of each stack: everything that its bytes depend on."""
    surroundings = hashlib.sha256(importlib.metadata.version("cdktn").encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        surroundings.update(source.read_bytes())
    keys: dict[str, str] = {}
    for stack, order in orders.items():
        key = surroundings.copy()
        key.update(msgspec.json.encode(order, order="deterministic"))
        keys[stack] = key.hexdigest()
    return keys


def _cached(cache: Path | None, key: str) -> bytes | None:
    if cache is None:
        return None
    try:
        data = (cache / "stacks" / f"{key}.tf.json").read_bytes()
        msgspec.json.decode(data)
    except (OSError, msgspec.DecodeError):  # a machine that lost power may have kept half a file
        return None
    return data


def _keep(cache: Path | None, key: str, data: bytes) -> None:
    if cache is None:
        return
    path = cache / "stacks" / f"{key}.tf.json"
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The stacks hold the healthy manifests, which the agents must not compare with the broken ones.
        path.parent.chmod(0o700)
        part.write_bytes(data)
        part.replace(path)
    except OSError:
        # A cache that can't be written makes the next compilation slower and nothing else.
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _run(orders: Sequence[Order]) -> Mapping[str, str]:
    # -P: the current folder isn't put on the module path, so no file of the user's can be taken for a module.
    command = [sys.executable, "-P", "-m", "itbc.stacks.make"]
    try:
        done = subprocess.run(
            command,
            input=msgspec.json.encode(list(orders)),
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise SynthesisError(f"making the Terraform stacks took more than {TIMEOUT_SECONDS:.0f} s") from late
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise SynthesisError(f"making the Terraform stacks failed: {said[-1] if said else f'exit {done.returncode}'}")
    return msgspec.json.decode(done.stdout, type=dict[str, str])
