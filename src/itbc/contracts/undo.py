"""`FAULT.json` in a run's undo folder: how to put back what a fault changed, written before it is changed."""

from __future__ import annotations

from typing import Any, Literal

from itbc.contracts.shape import Shape


class SavedObject(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Kubernetes object as it was: `saved` is the whole live object, `manager` in whose name it is written back.

    Null for an object that wasn't there: the undo deletes it.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    manager: str
    saved: dict[str, Any] | None


class UndoRecord(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that an undo needs besides access to the cluster. The undo play renames it to `FAULT.undone.json`."""

    version: Literal["itbc.undo/1"] = "itbc.undo/1"
    fault: str
    kind: str
    cluster: str
    objects: list[SavedObject]
