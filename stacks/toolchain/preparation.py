"""Makes a bare machine ready for the embedded target."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from itbc.stacks.toolchain.debian import Machine, Package, debian_packages, missing_packages
from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.node import PROGRAM_SETTING, node_program
from itbc.stacks.toolchain.running import Progress
from itbc.stacks.toolchain.telemetry import PROGRAMS, telemetry_program
from itbc.stacks.toolchain.terraform import terraform_binary


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder that `ITBC_CACHE` names, or the default one."""
    return Path(environ.get("ITBC_CACHE") or "/var/cache/itbc").absolute()


def prepare(progress: Progress, environ: Mapping[str, str] = os.environ, *, install: bool) -> None:
    """Have everything there that any run on this machine needs: Debian packages, Terraform, Go, Kubernetes, stores.

    Takes a fraction of a second when all is there. Without `install`, missing
    Debian packages are an error. Raises ToolchainError.
    """
    cache = cache_folder(environ)
    missing = missing_packages(environ)
    if missing and not install:
        raise ToolchainError(
            f"Debian packages are missing: {_names(missing)}",
            "run as root: python -m itbc.stacks.toolchain setup --yes, "
            f"or: apt-get install --no-install-recommends {' '.join(package.name for package in missing)}",
        )
    debian_packages(missing, progress, Machine(environ))
    progress(f"Debian packages: {'installed' if missing else 'all there'}")
    progress(f"Terraform: {terraform_binary(cache, progress, environ)}")
    program = node_program(cache, progress, environ)
    origin = f" (from {PROGRAM_SETTING})" if environ.get(PROGRAM_SETTING) else ""
    progress(f"Kubernetes program: {program}{origin}")
    for name in PROGRAMS:
        progress(f"{name}: {telemetry_program(name, cache, progress, environ)}")


def _names(packages: tuple[Package, ...]) -> str:
    return ", ".join(package.name for package in packages)
