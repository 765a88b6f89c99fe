from __future__ import annotations

import subprocess

import pytest

from itbc.stacks.toolchain import cache_folder, go_binary, go_environment
from itbc.stacks.toolchain.node import SOURCE


@pytest.mark.e2e
def test_the_node_programs_own_tests_pass() -> None:
    """Not among the unit tests: on a machine that never built the node program it compiles for minutes."""
    program = go_binary(cache_folder(), lambda _: None).program
    answer = subprocess.run(
        [program, "test", "-trimpath", "-mod=readonly", "./internal/..."],
        cwd=SOURCE,
        env=go_environment(cache_folder()),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
