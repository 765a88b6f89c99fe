from __future__ import annotations

import subprocess
from pathlib import Path

from itbc.stacks.toolchain import cache_folder, go_binary, go_environment

SERVICE = Path(__file__).resolve().parents[3] / "scenarios" / "apps" / "shop" / "service"


def go(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = go_binary(cache_folder(), lambda _: None).program
    return subprocess.run(
        [program, *arguments],
        cwd=SERVICE,
        env=go_environment(cache_folder()),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_services_own_tests_pass() -> None:
    answer = go("test", "-trimpath", "-mod=readonly", "-count=1", ".")
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_services_sources_are_in_go_layout() -> None:
    gofmt = Path(go("env", "GOROOT").stdout.strip()) / "bin" / "gofmt"
    answer = subprocess.run([gofmt, "-l", "."], cwd=SERVICE, capture_output=True, text=True, check=True)
    assert not answer.stdout
