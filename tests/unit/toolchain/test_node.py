from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from itbc.stacks.toolchain import KUBERNETES_VERSION, ToolchainError, node_program
from itbc.stacks.toolchain.node import DIGEST_SETTING, PROGRAM_SETTING, SOURCE

Script = Callable[[Path, str], Path]


def quiet(line: str) -> None:
    del line


def test_a_program_built_elsewhere_is_used_when_it_is_the_right_one(tmp_path: Path, script: Script) -> None:
    program = script(tmp_path / "node", f'test "$1" = version && echo {KUBERNETES_VERSION}')
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    for settings in ({}, {DIGEST_SETTING: digest}, {DIGEST_SETTING: digest.upper()}):
        assert node_program(tmp_path / "cache", quiet, {PROGRAM_SETTING: str(program), **settings}) == program
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("body", "settings", "says"),
    [
        ("echo v1.35.0", {}, "`version` says v1.35.0"),
        ("echo broken >&2; exit 1", {}, "`version` says broken"),
        (f"echo {KUBERNETES_VERSION}; exit 1", {}, "isn't Kubernetes"),
        (f"echo {KUBERNETES_VERSION}", {DIGEST_SETTING: "00"}, f"{DIGEST_SETTING} says 00"),
    ],
)
def test_a_wrong_one_is_refused(tmp_path: Path, script: Script, body: str, settings: dict[str, str], says: str) -> None:
    program = script(tmp_path / "node", body)
    with pytest.raises(ToolchainError) as wrong:
        node_program(tmp_path, quiet, {PROGRAM_SETTING: str(program), **settings})
    assert says in wrong.value.message
    assert PROGRAM_SETTING in wrong.value.remedy


def test_one_that_is_missing_or_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="which is no file"):
        node_program(tmp_path, quiet, {PROGRAM_SETTING: str(tmp_path / "none")})
    text = tmp_path / "text"
    text.write_text("no program")
    with pytest.raises(ToolchainError, match="doesn't run"):
        node_program(tmp_path, quiet, {PROGRAM_SETTING: str(text)})


def test_the_version_asked_for_is_the_one_that_go_mod_pins() -> None:
    assert f"k8s.io/kubernetes {KUBERNETES_VERSION}\n" in (SOURCE / "go.mod").read_text()
