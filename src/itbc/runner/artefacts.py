"""Reads an artefact folder and makes sure that it is what its manifest says."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from itbc.contracts.environment import Environment
from itbc.contracts.manifest import Manifest
from itbc.contracts.shape import ContractError, read
from itbc.runner.failures import StepFailed

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Artefacts:
    """A compiled scenario."""

    folder: Path
    manifest: Manifest
    environment: Environment


def load(folder: Path) -> Artefacts:
    """Read and check an artefact folder. Raises StepFailed (the input's fault) where it isn't whole."""
    try:
        manifest = read(folder / MANIFEST, Manifest)
        environment = read(folder / "environment.json", Environment)
    except ContractError as wrong:
        raise StepFailed("input", str(wrong), "compile the scenario again with `itbc compile`") from wrong
    for name, digest in manifest.files.items():
        try:
            data = (folder / name).read_bytes()
        except OSError as wrong:
            raise _changed(folder, f"{name} can't be read: {wrong.strerror}") from wrong
        if hashlib.sha256(data).hexdigest() != digest:
            raise _changed(folder, f"{name} isn't what the manifest says")
    return Artefacts(folder, manifest, environment)


def _changed(folder: Path, why: str) -> StepFailed:
    return StepFailed(
        "input", f"the artefact folder {folder} isn't as it was compiled: {why}", "compile the scenario again"
    )


def copy(artefacts: Artefacts, target: Path) -> None:
    """Copy what the manifest names, and nothing else, to a new folder."""
    for name in (MANIFEST, *artefacts.manifest.files):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(artefacts.folder / name, path)
        shutil.copymode(artefacts.folder / name, path)
