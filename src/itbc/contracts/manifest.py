"""`manifest.json`: what an artefact folder holds and what it was made from."""

from __future__ import annotations

from typing import Literal

from itbc.contracts.shape import Origin, Shape


class Manifest(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table of contents of an artefact folder.

    `files` maps each other file of the folder (relative path with `/`) to its
    SHA-256 in hex. `origins` maps what an outside tool names in its messages
    (`STACK/TYPE.NAME` for a Terraform resource, `play/FAULT` for an Ansible
    play) to the place in the `.itb` files that caused it.
    """

    version: Literal["itbc.manifest/1"] = "itbc.manifest/1"
    compiler: str
    scenario: str
    title: str
    persona: Literal["sre", "ciso", "finops"]
    target: str
    files: dict[str, str]
    origins: dict[str, Origin]
