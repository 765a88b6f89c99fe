"""The embedded target: a real Kubernetes on this machine, in namespaces of its own.

`RESOURCES` (its Terraform resource classes) and `SWEEPERS` (by ledger kind)
come in when they are asked for, since the node's first process imports from
this package too, and must stay light. Without Terraform: `boot.boot`,
`destroy.destroy`, `sweep.sweep`, `preflight.preflight`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itbc.providers.embedded.resources import RESOURCES as RESOURCES
    from itbc.providers.embedded.sweep import SWEEPERS as SWEEPERS

_HOMES = {"RESOURCES": "resources", "SWEEPERS": "sweep"}


def __getattr__(name: str) -> Any:
    """What this package offers, from the module it lives in."""
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(import_module(f"{__name__}.{home}"), name)
