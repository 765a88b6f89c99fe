"""How a step says that it can't go on."""

from __future__ import annotations

import errno

from itbc.contracts.record import Fault
from itbc.contracts.shape import Origin

_STORAGE = frozenset({errno.EDQUOT, errno.EIO, errno.ENOSPC, errno.EROFS})


class StepFailed(Exception):  # noqa: N818 - the name is the fact
    """A step didn't reach its end. `fault` says whose fault it is, `remedy` what the user can do."""

    def __init__(self, fault: Fault, message: str, remedy: str = "", origin: Origin | None = None) -> None:
        super().__init__(message)
        self.fault: Fault = fault
        self.message = message
        self.remedy = remedy
        self.origin = origin


def storage_failure(wrong: BaseException | None) -> StepFailed | None:
    """The failure that an exception means if storage is behind it: full, read-only or broken. None for any other."""
    if isinstance(wrong, OSError) and wrong.errno in _STORAGE:
        where = f"{wrong.filename}: " if wrong.filename else ""
        return unwritten(f"what is known of the run can't be written: {where}{wrong.strerror}")
    return None


def unwritten(message: str) -> StepFailed:
    """The failure of a run whose files can't be written: what it found out is lost, so nothing may follow from it."""
    return StepFailed("environment", message, "free some space at ITBC_HOME, or set it to another disk, and run again")


class Interrupted(StepFailed):
    """The user asked the run to stop."""

    def __init__(self, message: str = "stopped on request") -> None:
        super().__init__("interrupted", message)
