from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from itbc.stacks.toolchain import ToolchainError, preparation, telemetry_program_place
from itbc.stacks.toolchain.__main__ import _main, main
from itbc.stacks.toolchain.debian import PACKAGES
from itbc.stacks.toolchain.node import KUBERNETES_VERSION, PROGRAM_SETTING
from itbc.stacks.toolchain.telemetry import PROGRAMS

Script = Callable[[Path, str], Path]


@pytest.fixture
def environ(tmp_path: Path, script: Script) -> dict[str, str]:
    """A machine on which everything is there."""
    node = script(tmp_path / "node", f"echo {KUBERNETES_VERSION}")
    script(tmp_path / "bin" / "terraform", 'echo \'{"terraform_version": "1.11.4"}\'')
    for name in PROGRAMS:
        script(telemetry_program_place(name, tmp_path / "cache"), "echo built")
    return {"PATH": str(tmp_path / "bin"), "ITBC_CACHE": str(tmp_path / "cache"), PROGRAM_SETTING: str(node)}


def test_where_all_is_there_it_says_so(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "missing_packages", lambda _: ())
    lines: list[str] = []
    preparation.prepare(lines.append, environ, install=True)
    assert lines == [
        "Debian packages: all there",
        f"Terraform: {tmp_path}/bin/terraform",
        f"Kubernetes program: {tmp_path}/node (from {PROGRAM_SETTING})",
        *(f"{name}: {telemetry_program_place(name, tmp_path / 'cache')}" for name in PROGRAMS),
    ]


def test_missing_packages_are_not_installed_unasked(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "missing_packages", lambda _: PACKAGES[:2])
    with pytest.raises(ToolchainError, match="containerd, runc") as wrong:
        preparation.prepare(lambda _: None, environ, install=False)
    assert "setup --yes" in wrong.value.remedy


def test_the_command_ends_with_4_and_a_remedy(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "missing_packages", lambda _: ())
    for name, value in {**environ, PROGRAM_SETTING: "/none"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main(["setup", "--yes"])
    assert ended.value.code == 4


def test_wrong_usage_ends_with_2() -> None:
    assert CliRunner().invoke(_main, ["set-up"]).exit_code == 2
