"""`python -m bench`: measure, print a table, write JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import life
from bench.usage import Clusters, children

ITBC = str(Path(sys.executable).parent / "itbc")
SCENARIO = Path("scenarios/sre/checkout-wrong-payment-address")


def main() -> int:
    """Measure. Exit code 1 where a run doesn't pass, since its figures would mean nothing."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=main.__doc__)
    parser.add_argument("--runs", type=int, default=3, help="how many whole runs (3)")
    parser.add_argument("--json", type=Path, help="write the figures to this file, to compare them with later ones")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="itbc-bench-"))
    try:
        found: dict[str, list[float]] = {}
        for name, value in small(home).items():
            found[name] = [value]
        for number in range(given.runs):
            print(f"run {number + 1} of {given.runs}", file=sys.stderr)
            for name, value in whole(home).items():
                found.setdefault(name, []).append(value)
    except subprocess.CalledProcessError as wrong:
        print(f"{' '.join(wrong.cmd)} ended with exit code {wrong.returncode}: nothing is measured", file=sys.stderr)
        return 1
    finally:
        call(home, "gc")
        shutil.rmtree(home)
    print(table(found))
    if given.json:
        text = json.dumps({"machine": machine(), "figures": found}, indent=2, sort_keys=True)
        given.json.write_text(text + "\n")
    return 0


def call(home: Path, *arguments: str, cache: Path | None = None) -> float:
    """Run itbc to its end. Returns the seconds it took. Raises CalledProcessError."""
    environment = {**os.environ, "ITBC_HOME": str(home)}
    if cache is not None:
        environment["ITBC_CACHE"] = str(cache)
    began = time.monotonic()
    subprocess.run(
        [ITBC, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return time.monotonic() - began


def small(home: Path) -> Mapping[str, float]:
    """What needs no cluster."""
    out = home / "artefacts"
    compiling = ("compile", str(SCENARIO), "--target", "embedded", "-o", str(out))
    return {
        "check one scenario": call(home, "check", str(SCENARIO)),
        "compile, cold": call(home, *compiling, cache=home / "cold"),
        "compile, unchanged": call(home, *compiling, cache=home / "cold"),
    }


def whole(home: Path) -> Mapping[str, float]:
    """A whole run with the scenario's own solution."""
    before = children()
    with Clusters() as clusters:
        call(home, "run", str(SCENARIO), "--agent", "solution")
    (run,) = (home / "runs").iterdir()
    found = {
        **life.figures(run),
        "processor seconds: itbc, Terraform, Ansible": children() - before,
        "processor seconds: cluster and application": clusters.processor_seconds,
        "peak memory: cluster and application, MiB": clusters.peak_bytes / (1 << 20),
    }
    shutil.rmtree(run)
    return found


def table(found: Mapping[str, Sequence[float]]) -> str:
    """The figures in Markdown: the median of all runs, and the smallest and the largest."""
    lines = [machine(), "", "| figure | median | from | to |", "|---|---:|---:|---:|"]
    for name, values in found.items():
        median, least, most = statistics.median(values), min(values), max(values)
        lines.append(f"| {name} | {median:.1f} | {least:.1f} | {most:.1f} |")
    return "\n".join(lines)


def machine() -> str:
    """What was measured on, and how busy it is now: the load of the last minute and of the last quarter of an hour."""
    processors = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    last, _, long = os.getloadavg()
    return (
        f"{processors} processors, {memory:.0f} GiB, Linux {platform.release()}, Python {platform.python_version()}; "
        f"load {last:.1f} (a quarter of an hour: {long:.1f}). Seconds, if nothing else is said."
    )


if __name__ == "__main__":
    sys.exit(main())
