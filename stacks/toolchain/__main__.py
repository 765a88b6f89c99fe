"""`python -m itbc.stacks.toolchain setup [--yes]`: make this machine ready; what `make setup` calls."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

from itbc.stacks.toolchain.debian import missing_packages
from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.preparation import prepare

_FAILED_OUTSIDE = 4


@click.group()
def _main() -> None:
    """Find or bring the programs that itbc needs."""


@_main.command()
@click.option("--yes", is_flag=True, help="Install missing Debian packages without asking.")
def setup(*, yes: bool) -> None:
    """Install what is missing on this machine and build the Kubernetes program."""
    started = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"{time.monotonic() - started:6.1f} s  {line}")
        sys.stdout.flush()

    if not yes and sys.stdin.isatty() and (missing := missing_packages()):
        names = ", ".join(package.name for package in missing)
        yes = click.confirm(f"Install these Debian packages: {names}?", default=True)
    try:
        prepare(say, install=yes)
    except ToolchainError as wrong:
        click.echo(f"error: {wrong.message}\n  help: {wrong.remedy}", err=True)
        sys.exit(_FAILED_OUTSIDE)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line of this package."""
    _main.main(args=None if arguments is None else list(arguments), prog_name="python -m itbc.stacks.toolchain")


if __name__ == "__main__":
    main()
