"""The embedded target: a real Kubernetes on this machine, in namespaces of its own.

What every target's package offers is `TARGET` (for the compiler), `RESOURCES`
(its Terraform resource classes), `SWEEPERS` (by ledger kind), `running` (which
of a cluster's own run), `preflight` (what the machine lacks) and `prepare` (have
the programs there that it builds). They come in when they are asked for, since
the node's first process imports from this package too, and must stay light. What
the resources are made of can be used without Terraform: `boot.boot`, `destroy.destroy`, `sweep.sweep`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itbc.providers.embedded.control import running as running
    from itbc.providers.embedded.inspection import preflight as preflight
    from itbc.providers.embedded.programs import prepare as prepare
    from itbc.providers.embedded.resources import RESOURCES as RESOURCES
    from itbc.providers.embedded.sweep import SWEEPERS as SWEEPERS
    from itbc.providers.embedded.target import TARGET as TARGET

_HOMES = {
    "RESOURCES": "resources",
    "SWEEPERS": "sweep",
    "TARGET": "target",
    "preflight": "inspection",
    "prepare": "programs",
    "running": "control",
}


def __getattr__(name: str) -> Any:
    """What this package offers, from the module it lives in."""
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(import_module(f"{__name__}.{home}"), name)
