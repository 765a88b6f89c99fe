from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from itbc.runner.failures import StepFailed
from itbc.runner.leftovers import lease

HOLD = """
import sys, pathlib
from itbc.runner.leftovers import lease
held = lease.take(pathlib.Path(sys.argv[1]), "run")
print("held" if held else "not", flush=True)
sys.stdin.read()
"""


def holding(folder: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == b"held\n"
    return process


def test_only_one_process_has_it_and_death_frees_it(tmp_path: Path) -> None:
    with holding(tmp_path) as process:
        assert lease.take(tmp_path, "run") is None
        with pytest.raises(StepFailed, match="another itbc command"):
            lease.take_or_fail(tmp_path, "run")
        process.kill()
    with lease.take_or_fail(tmp_path, "run"):
        assert lease.take(tmp_path, "run") is None
    freed = lease.take(tmp_path, "run")
    assert freed
    freed.close()


def test_children_dont_keep_it(tmp_path: Path) -> None:
    with lease.take_or_fail(tmp_path, "run"):
        child = subprocess.Popen(["sleep", "30"])
    try:
        again = lease.take(tmp_path, "run")
        assert again
        again.close()
    finally:
        child.kill()
        child.wait()
