"""What the tests on real clusters share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def machine() -> ModuleType:
    """The module `machine.py`: snapshot(), difference(), settled()."""
    return _module("machine")


@pytest.fixture(scope="session")
def peers() -> ModuleType:
    """The module `peers.py`: cluster(), eventually()."""
    return _module("peers")


def _module(name: str) -> ModuleType:
    """A module beside this one, which the tests can't import, being no package."""
    spec = importlib.util.spec_from_file_location(f"itbc_e2e_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
