"""How a step says that it can't go on."""

from __future__ import annotations

from itbc.contracts.record import Fault
from itbc.contracts.shape import Origin


class StepFailed(Exception):  # noqa: N818 - the name is the fact
    """A step didn't reach its end. `fault` says whose fault it is, `remedy` what the user can do."""

    def __init__(self, fault: Fault, message: str, remedy: str = "", origin: Origin | None = None) -> None:
        super().__init__(message)
        self.fault: Fault = fault
        self.message = message
        self.remedy = remedy
        self.origin = origin


class Interrupted(StepFailed):
    """The user asked the run to stop."""

    def __init__(self, message: str = "stopped on request") -> None:
        super().__init__("interrupted", message)
