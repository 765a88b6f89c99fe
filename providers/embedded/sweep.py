"""Removing what a ledger entry says there may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from itbc.providers.embedded.destroy import destroy
from itbc.providers.embedded.spec import DEFAULT_RANGE, LEDGER_KIND
from itbc.providers.services import Sweeper


def sweep(identity: str, details: Mapping[str, Any]) -> Sequence[str]:
    """Remove the cluster of a ledger entry of kind `embedded-cluster`, however half made or half removed it is.

    `details` are those of the entry: `state` (the cluster's folder) and
    `range`. Says what was removed; nothing where nothing was left. Idempotent.
    Raises EmbeddedError when something can't be removed.
    """
    return destroy(identity, Path(details["state"]), IPv4Network(details.get("range", str(DEFAULT_RANGE))))


SWEEPERS: Mapping[str, Sweeper] = {LEDGER_KIND: sweep}
"""By the ledger's kind of entry."""
