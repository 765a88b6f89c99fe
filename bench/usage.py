"""What processes used: those that were started and waited for, and what ran in a cluster's cgroups."""

from __future__ import annotations

import resource
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from itbc.providers.cgroups import Hierarchy, hierarchies

LOOK_SECONDS = 0.5


def children() -> float:
    """Processor seconds of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Clusters:
    """Looks at clusters' cgroups again and again, as they are gone at the end. Use as a context."""

    def __init__(self) -> None:
        self.processor_seconds = 0.0
        self.peak_bytes = 0
        self._end = threading.Event()
        self._known = {path.name for each in hierarchies() for path in each.path.glob("itbc-*")}
        self._thread = threading.Thread(target=self._watch, name="usage", daemon=True)

    def __enter__(self) -> Self:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Look no more."""
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        found = hierarchies()
        while not self._end.wait(LOOK_SECONDS):
            for each in found:
                for group in each.path.glob("itbc-*"):
                    if group.name not in self._known:
                        self._look(each, group)

    def _look(self, hierarchy: Hierarchy, group: Path) -> None:
        # It may go at any moment; what was seen last counts.
        with suppress(OSError, ValueError):
            if hierarchy.version == 2:
                stat = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
                self.processor_seconds = max(self.processor_seconds, int(stat["usage_usec"]) / 1e6)
                self.peak_bytes = max(self.peak_bytes, int((group / "memory.peak").read_text()))
            elif "cpuacct" in hierarchy.controllers:
                used = int((group / "cpuacct.usage").read_text())
                self.processor_seconds = max(self.processor_seconds, used / 1e9)
            elif "memory" in hierarchy.controllers:
                used = int((group / "memory.max_usage_in_bytes").read_text())
                self.peak_bytes = max(self.peak_bytes, used)
