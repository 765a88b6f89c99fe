"""Removes things by what the ledger says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from itbc.providers.services import Ledger, Sweeper
from itbc.runner.leftovers.ledger import Entry


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep removed, and what it couldn't, in words."""

    removed: list[str]
    failed: list[str]


def sweep(entries: Sequence[Entry], sweepers: Mapping[str, Sweeper], ledger: Ledger) -> Swept:
    """Remove every entry's thing and write down that it is gone. Goes on where one can't be removed."""
    removed: list[str] = []
    failed: list[str] = []
    for entry in entries:
        sweeper = sweepers.get(entry.kind)
        if sweeper is None:
            failed.append(f"{entry.kind} {entry.identity}: this version of itbc doesn't know how to remove it")
            continue
        try:
            removed += sweeper(entry.identity, entry.details)
        except Exception as wrong:  # noqa: BLE001 - one thing that can't be removed must not keep the others
            failed.append(f"{entry.kind} {entry.identity}: {wrong}")
            continue
        try:
            ledger.gone(entry.kind, entry.identity)
        except OSError as wrong:
            failed.append(f"{entry.kind} {entry.identity} is gone, but the ledger can't be told: {wrong}")
    return Swept(removed, failed)


def look_again(entries: Sequence[Entry], sweepers: Mapping[str, Sweeper]) -> list[str]:
    """Sweep things that are said to be gone. Returns what wasn't, or can't be told: empty where all is clean."""
    found: list[str] = []
    for entry in entries:
        try:
            found += sweepers[entry.kind](entry.identity, entry.details)
        except Exception as wrong:  # noqa: BLE001 - whatever it is, it says that not everything is gone
            found.append(f"{entry.kind} {entry.identity}: {wrong}")
    return found
