from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from itbc.stacks.toolchain import ToolchainError, debian_packages, missing_packages
from itbc.stacks.toolchain.debian import PACKAGES, Machine
from itbc.stacks.toolchain.running import Ended

Script = Callable[[Path, str], Path]


class Apt:
    """Stands for apt-get: gives these exit codes, remembers what it was asked and whether starts were forbidden."""

    def __init__(self, policy: Path, *codes: int) -> None:
        self.policy = policy
        self.codes = list(codes)
        self.asked: list[list[str]] = []
        self.forbidden: list[bool] = []

    def __call__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        on_line: Callable[[str], None],
        on_tick: Callable[[float], None],
    ) -> Ended:
        assert environ["DEBIAN_FRONTEND"] == "noninteractive"
        self.asked.append([word for word in command if not word.startswith(("-", "DPkg::"))])
        self.forbidden.append(self.policy.exists() and "exit 101" in self.policy.read_text())
        on_line("Unpacking runc (1.1.5) ...")
        on_tick(4.0)
        code = self.codes.pop(0)
        return Ended(code, ("E: Unable to locate package runc",) if code else ())


@pytest.fixture
def machine(tmp_path: Path, script: Script) -> Machine:
    for name in ("apt-get", "systemctl"):
        script(tmp_path / "bin" / name, f'echo "$@" >> {tmp_path}/{name}.log')
    return Machine({"PATH": str(tmp_path / "bin")}, lambda: True, tmp_path / "policy-rc.d")


RUNC = [package for package in PACKAGES if package.name in {"runc", "prometheus"}]


def test_packages_are_installed_without_starting_services(tmp_path: Path, machine: Machine) -> None:
    apt, lines = Apt(machine.policy, 0), list[str]()
    debian_packages(RUNC, lines.append, replace(machine, run=apt))
    assert apt.asked == [["apt-get", "install", "runc", "prometheus"]]
    assert apt.forbidden == [True]
    assert not machine.policy.exists()
    assert (tmp_path / "systemctl.log").read_text() == "disable --quiet prometheus.service\n"
    assert lines == ["installing Debian packages: runc, prometheus", "apt-get, 4 s: Unpacking runc (1.1.5) ..."]


def test_the_lists_are_updated_only_when_a_package_is_not_found(machine: Machine) -> None:
    apt = Apt(machine.policy, 100, 0, 0)
    debian_packages(RUNC[:1], lambda _: None, replace(machine, run=apt))
    assert [asked[1] for asked in apt.asked] == ["install", "update", "install"]


@pytest.mark.parametrize("codes", [(100, 0, 100), (100, 100)])
def test_a_failure_is_handed_on_and_leaves_no_policy(machine: Machine, codes: tuple[int, ...]) -> None:
    with pytest.raises(ToolchainError, match="Unable to locate package runc"):
        debian_packages(RUNC[:1], lambda _: None, replace(machine, run=Apt(machine.policy, *codes)))
    assert not machine.policy.exists()


def test_the_machines_own_policy_stays(machine: Machine) -> None:
    machine.policy.write_text("#!/bin/sh\nexit 0\n")
    apt = Apt(machine.policy, 0)
    debian_packages(RUNC[:1], lambda _: None, replace(machine, run=apt))
    assert apt.forbidden == [False]
    assert machine.policy.read_text() == "#!/bin/sh\nexit 0\n"


def test_a_policy_that_a_killed_installation_left_is_removed(machine: Machine) -> None:
    class Killed(BaseException):
        pass

    left = ""

    def killed(*_: object) -> Ended:
        nonlocal left
        left = machine.policy.read_text()
        raise Killed

    with pytest.raises(Killed):
        debian_packages(RUNC[:1], lambda _: None, replace(machine, run=killed))
    machine.policy.write_text(left)
    debian_packages(RUNC[:1], lambda _: None, replace(machine, run=Apt(machine.policy, 0)))
    assert not machine.policy.exists()


def test_without_root_it_says_what_to_run(machine: Machine) -> None:
    with pytest.raises(ToolchainError, match="needs root") as wrong:
        debian_packages(RUNC, lambda _: None, replace(machine, is_root=lambda: False))
    assert wrong.value.remedy == "run as root: apt-get install --no-install-recommends runc prometheus"


def test_without_apt_it_names_the_programs(tmp_path: Path, machine: Machine) -> None:
    with pytest.raises(ToolchainError, match="runc, prometheus, promtool"):
        debian_packages(RUNC, lambda _: None, replace(machine, environ={"PATH": str(tmp_path)}))


def test_nothing_missing_is_nothing_to_do() -> None:
    debian_packages([], lambda _: None, Machine({}, lambda: False))


def test_a_package_is_missing_when_one_of_its_programs_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def which(name: str, path: str | None = None) -> str | None:
        assert path is not None
        return None if name in {"promtool", "nft"} else f"/usr/bin/{name}"

    monkeypatch.setattr(shutil, "which", which)
    found = {package.name for package in missing_packages({"PATH": ""})}
    assert {"prometheus", "nftables"} <= found <= {"prometheus", "nftables", "containernetworking-plugins"}
