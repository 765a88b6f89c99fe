"""The embedded target: a real Kubernetes on this machine, in namespaces of its own.

`RESOURCES` (its Terraform resource classes), `SWEEPERS` (by ledger kind) and
`preflight` come in when they are asked for, since the node's first process
imports from this package too, and must stay light. What the resources are made
of can be used without Terraform: `boot.boot`, `destroy.destroy`, `sweep.sweep`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itbc.providers.embedded.inspection import preflight as preflight
    from itbc.providers.embedded.resources import RESOURCES as RESOURCES
    from itbc.providers.embedded.sweep import SWEEPERS as SWEEPERS

_HOMES = {"RESOURCES": "resources", "SWEEPERS": "sweep", "preflight": "inspection"}


def __getattr__(name: str) -> Any:
    """What this package offers, from the module it lives in."""
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(import_module(f"{__name__}.{home}"), name)
