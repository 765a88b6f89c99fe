"""The stores of logs and traces, and what fills them: built from the Go modules of their releases."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import itbc
from itbc.stacks.toolchain.golang import Build, built
from itbc.stacks.toolchain.running import Progress

SOURCE = Path(itbc.__file__).resolve().parent / "providers" / "embedded" / "telemetry" / "modules"

_PROGRAMS: Mapping[str, tuple[str, str, str]] = {
    "jaeger": ("traces", "github.com/jaegertracing/jaeger/cmd/jaeger", "Jaeger"),
    "victoria-logs": ("logs", "github.com/VictoriaMetrics/VictoriaLogs/app/victoria-logs", "VictoriaLogs"),
    "vlagent": ("logs", "github.com/VictoriaMetrics/VictoriaLogs/app/vlagent", "VictoriaLogs' agent"),
}
"""By program: the module (a folder with a go.mod) that pins it, its package, and what people call it."""

PROGRAMS = tuple(sorted(_PROGRAMS))
"""The programs there are."""

OF_SIGNAL: Mapping[str, tuple[str, ...]] = {"logs": ("victoria-logs", "vlagent"), "traces": ("jaeger",)}
"""What is needed to collect a signal, besides what Debian has."""


def telemetry_program(
    name: str, cache: Path, progress: Progress, environ: Mapping[str, str] = os.environ, *, source: Path = SOURCE
) -> Path:
    """The path of one of `PROGRAMS`, built into the cache where it isn't there yet.

    That takes seconds for the logs' and minutes for Jaeger, once a machine.
    Raises ToolchainError.
    """
    return built(_build(name, source), lambda key: _place(cache, name, key), cache, progress, environ)


def telemetry_program_place(name: str, cache: Path, *, source: Path = SOURCE) -> Path:
    """Where the cache has the program once it is built."""
    return _place(cache, name, _build(name, source).key())


def _build(name: str, source: Path) -> Build:
    module, package, title = _PROGRAMS[name]
    return Build(title, (source / module).resolve(), ("-ldflags=-s -w",), package)


def _place(cache: Path, name: str, key: str) -> Path:
    return cache / "telemetry" / key / name
