"""Debian packages: which are missing, and their installation without starting any service."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.running import Ended, Progress, run_long


@dataclass(frozen=True, slots=True)
class Package:
    """A Debian package, a file that is there when it is installed, and the systemd units it would start at boot."""

    name: str
    programs: tuple[str, ...]
    units: tuple[str, ...] = ()


PACKAGES = (
    Package("containerd", ("containerd", "ctr"), ("containerd.service",)),
    Package("runc", ("runc",)),
    Package("containernetworking-plugins", ("/usr/lib/cni/bridge",)),
    Package("nftables", ("nft",)),
    Package("iptables", ("iptables",)),
    Package("conntrack", ("conntrack",)),
    Package("iproute2", ("ip",)),
    Package("prometheus", ("prometheus", "promtool"), ("prometheus.service",)),
    Package("prometheus-alertmanager", ("prometheus-alertmanager",), ("prometheus-alertmanager.service",)),
)
"""What the embedded target and its monitoring are made of."""

POLICY = Path("/usr/sbin/policy-rc.d")
"""Debian's switch for service starts by packages: exit code 101 forbids them."""

_OWN_POLICY = "#!/bin/sh\n# Made by itbc while it installs packages; it may be removed.\nexit 101\n"

Runner = Callable[[Sequence[str], Mapping[str, str], Callable[[str], None], Callable[[float], None]], Ended]
"""Runs a command: arguments, environment, what takes its lines, what is told every few seconds."""

_SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def missing_packages(environ: Mapping[str, str] = os.environ) -> tuple[Package, ...]:
    """The packages of which a program is neither on PATH nor where Debian puts it. Takes no time worth a word."""
    path = os.pathsep.join([environ.get("PATH", ""), _SEARCH])

    def there(program: str) -> bool:
        return Path(program).exists() if program.startswith("/") else shutil.which(program, path=path) is not None

    return tuple(package for package in PACKAGES if not all(there(program) for program in package.programs))


@dataclass(frozen=True, slots=True)
class Machine:
    """What the installation needs of the machine; tests put their own in."""

    environ: Mapping[str, str]
    is_root: Callable[[], bool] = lambda: os.geteuid() == 0
    policy: Path = POLICY
    run: Runner = run_long


def debian_packages(missing: Sequence[Package], progress: Progress, machine: Machine | None = None) -> None:
    """Install packages with apt-get; none of their services is started now or at the next boot.

    Updates the package lists only when the packages aren't found in those that
    are there. Raises ToolchainError where this is no Debian, the user isn't
    root, or apt-get fails.
    """
    machine = machine or Machine(os.environ)
    if not missing:
        return
    names = [package.name for package in missing]
    command = f"apt-get install --no-install-recommends {' '.join(names)}"
    if shutil.which("apt-get", path=machine.environ.get("PATH")) is None:
        programs = ", ".join(program for package in missing for program in package.programs)
        raise ToolchainError(
            f"programs are missing and there is no apt-get to install them with: {programs}",
            f"install them with this system's package manager (Debian calls the packages {', '.join(names)})",
        )
    if not machine.is_root():
        raise ToolchainError(
            f"Debian packages are missing, and installing them needs root: {', '.join(names)}",
            f"run as root: {command}",
        )
    progress(f"installing Debian packages: {', '.join(names)}")
    with _no_service_starts(machine.policy):
        ended = _apt(["install", "-y", "--no-install-recommends", *names], progress, machine)
        if ended.code != 0:
            updated = _apt(["update"], progress, machine)
            ended = (
                _apt(["install", "-y", "--no-install-recommends", *names], progress, machine)
                if updated.code == 0
                else updated
            )
    if ended.code != 0:
        raise ToolchainError(f"apt-get can't install the packages:\n{ended.reason}", f"see what it says to: {command}")
    _keep_off_at_boot([unit for package in missing for unit in package.units], machine)


def _apt(arguments: Sequence[str], progress: Progress, machine: Machine) -> Ended:
    said = ["starting"]

    def take(line: str) -> None:
        if line.strip():
            said[0] = line.strip()

    environ = {**machine.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    command = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", *arguments]
    return machine.run(command, environ, take, lambda seconds: progress(f"apt-get, {seconds:.0f} s: {said[0][:90]}"))


@contextmanager
def _no_service_starts(policy: Path) -> Generator[None, None, None]:
    """Forbid packages to start services meanwhile; a policy that the machine already has is left alone."""
    # One of ours that is still there was left by an installation that was killed.
    if policy.exists() and policy.read_text(errors="replace") != _OWN_POLICY:
        yield
        return
    policy.write_text(_OWN_POLICY)
    try:
        policy.chmod(0o755)
        yield
    finally:
        policy.unlink(missing_ok=True)


def _keep_off_at_boot(units: Sequence[str], machine: Machine) -> None:
    """Undo what the packages did to start at boot: itbc starts these programs itself, in namespaces of its own."""
    if units and shutil.which("systemctl", path=machine.environ.get("PATH")) is not None:
        subprocess.run(
            ["systemctl", "disable", "--quiet", *units], env=dict(machine.environ), check=False, capture_output=True
        )
