from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Script = Callable[[Path, str], Path]


@pytest.fixture
def script() -> Script:
    """Makes an executable shell script."""

    def make(path: Path, body: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    return make
