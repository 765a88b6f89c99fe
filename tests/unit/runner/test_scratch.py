from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from itbc.runner.scratch import scratch, sweep_scratch

KILLED = """
import os, pathlib, sys
from itbc.runner.scratch import scratch
with scratch(pathlib.Path(sys.argv[1]), "0") as folder:
    (folder / "truth").touch()
    os.kill(os.getpid(), 9)
"""


def test_it_lasts_as_long_as_its_block(tmp_path: Path) -> None:
    with scratch(tmp_path, "0") as folder:
        (folder / "file").touch()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert sweep_scratch(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_leaves_is_swept(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    assert (left / "truth").exists()
    assert sweep_scratch(tmp_path) == [left.name]
    assert list(tmp_path.iterdir()) == []
