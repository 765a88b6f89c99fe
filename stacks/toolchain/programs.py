"""Static programs for container images, built from a folder of Go sources."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from itbc.stacks.toolchain.golang import Build, built
from itbc.stacks.toolchain.running import Progress


def static_image_program(
    source: Path, cache: Path, progress: Progress, environ: Mapping[str, str] = os.environ
) -> Path:
    """The program of the Go main package in `source` (with its own go.mod): static, stripped, needing no other file.

    Built once for each state of the sources. Raises ToolchainError when it can't be built.
    """
    folder = source.resolve()
    build = Build(f"the program in {folder.parent.name}/{folder.name}", folder, ("-ldflags=-s -w",))
    return built(build, lambda key: cache / "programs" / key / "program", cache, progress, environ)
