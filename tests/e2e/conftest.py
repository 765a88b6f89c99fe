"""What the tests on real clusters share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def machine() -> ModuleType:
    """The module `machine.py`, which the tests can't import, being no package: snapshot(), difference(), settled()."""
    place = Path(__file__).with_name("machine.py")
    spec = importlib.util.spec_from_file_location("itbc_e2e_machine", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
