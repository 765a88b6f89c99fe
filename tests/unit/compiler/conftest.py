"""The sample scenario of the golden tests, as text, as model and compiled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from itbc.cli import assembly
from itbc.compiler.lower import lower
from itbc.compiler.plan import Plan
from itbc.compiler.target import Target
from itbc.dsl.checking import check
from itbc.dsl.diagnostics import Sink
from itbc.dsl.model import Scenario

SAMPLE = Path(__file__).parents[2] / "golden" / "compiler" / "sample"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE, folder)
    return folder


@pytest.fixture(scope="session")
def embedded() -> Target:
    return assembly.targets()["embedded"]


@pytest.fixture
def read() -> Callable[[Path], Scenario]:
    def checked(folder: Path) -> Scenario:
        sink = Sink()
        scenario = check(folder / "scenario.itb", assembly.catalogue(), sink)
        assert scenario is not None, sink.diagnostics
        return scenario

    return checked


@pytest.fixture(scope="session")
def scenario() -> Scenario:
    sink = Sink()
    checked = check(SAMPLE / "scenario.itb", assembly.catalogue(), sink)
    assert checked is not None, sink.diagnostics
    return checked


@pytest.fixture(scope="session")
def plan(scenario: Scenario, embedded: Target) -> Plan:
    sink = Sink()
    made = lower(scenario, embedded, sink)
    assert made is not None, sink.diagnostics
    return made
