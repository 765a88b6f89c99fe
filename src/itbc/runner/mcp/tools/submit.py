"""Handing in the diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from itbc.contracts.answer import Cause
from itbc.runner.mcp.place import Place


class RootCause(BaseModel):
    """An object that you hold responsible."""

    kind: str = Field(min_length=1, description="Its kind, for example Deployment.")
    name: str = Field(min_length=1)
    namespace: str = ""
    cluster: str = ""


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """Always there."""

    def submit(root_causes: list[RootCause], explanation: str = "") -> str:
        """Hand in your diagnosis, when everything works again. This ends your work.

        Name every root cause and nothing else: whatever you blame wrongly costs. Where nothing is broken, the list is
        empty.
        """
        try:
            causes = [msgspec.convert(each.model_dump(), Cause) for each in root_causes]
        except msgspec.ValidationError as wrong:
            raise ToolError(str(wrong)) from wrong
        place.hand_in([msgspec.structs.asdict(each) for each in causes], explanation)
        return "It is handed in."

    return [submit]
