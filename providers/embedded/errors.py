"""What goes wrong outside of itbc while a cluster is made, used or removed."""

from __future__ import annotations


class EmbeddedError(Exception):
    """A failure of the embedded target.

    The message says what failed and why; `remedy` what the user can do, and
    may be empty where there is nothing better than the message itself.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class NodeHostDied(EmbeddedError):  # noqa: N818 - the name is the fact
    """The cluster's first process is gone, and everything in its namespaces with it."""
