"""The fault catalogue: one family a file, found by looking into this folder.

A new family is a new file here that defines `FAULTS`, a tuple of
`itbc.dsl.catalogue.FaultKind`. Nothing else has to be told.
"""

from __future__ import annotations

import importlib
import pkgutil

from itbc.dsl.catalogue import Catalogue, FaultKind


def catalogue() -> Catalogue:
    """All fault kinds of all families, by name.

    Raises ValueError, with the files' names, where two families define the
    same kind or a family's file defines no `FAULTS`: both are mistakes in the
    catalogue itself.
    """
    faults: dict[str, FaultKind] = {}
    homes: dict[str, str] = {}
    for entry in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        if entry.ispkg:  # what several families need in common
            continue
        file = f"providers/faults/{entry.name}.py"
        family: tuple[FaultKind, ...] | None = getattr(
            importlib.import_module(f"{__name__}.{entry.name}"), "FAULTS", None
        )
        if family is None:
            message = f"{file} defines no FAULTS, the tuple of its fault kinds"
            raise ValueError(message)
        for fault in family:
            if fault.kind in faults:
                message = f"{homes[fault.kind]} and {file} both define the fault kind {fault.kind}"
                raise ValueError(message)
            faults[fault.kind] = fault
            homes[fault.kind] = file
    return Catalogue(dict(sorted(faults.items())))
