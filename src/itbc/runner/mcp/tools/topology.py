"""What calls what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from itbc.runner.mcp.place import Place, shortened
from itbc.runner.sandbox.workplace import TOPOLOGY


def offer(place: Place) -> Sequence[Callable[..., str]]:
    """There unless it is masked."""
    file = place.workplace.workspace.work / TOPOLOGY
    if not file.exists():
        return []
    text = file.read_text()

    def topology() -> str:
        """List the components as JSON: the Kubernetes objects each is made of, and which others it calls."""
        return shortened(text)

    return [topology]
