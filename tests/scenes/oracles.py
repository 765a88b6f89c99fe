"""Three other programs that read HCL: each says whether it accepts a text."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

import hcl2
import tree_sitter
import tree_sitter_hcl

_LANGUAGE = tree_sitter.Language(tree_sitter_hcl.language())


def terraform_layout(text: str, environment: Mapping[str, str]) -> str:
    """What `terraform fmt -` makes of a text. Raises CalledProcessError where it refuses it."""
    done = subprocess.run(
        ["terraform", "fmt", "-no-color", "-"],
        input=text.encode(),
        capture_output=True,
        check=True,
        env=dict(environment),
    )
    return done.stdout.decode()


def tree_sitter_accepts(text: str) -> bool:
    """Whether tree-sitter's grammar of HCL reads the text without an error."""
    return not tree_sitter.Parser(_LANGUAGE).parse(text.encode()).root_node.has_error


def python_hcl2_refusal(text: str) -> str:
    """Why python-hcl2 refuses the text; empty where it accepts it."""
    try:
        hcl2.loads(text)
    except Exception as wrong:  # noqa: BLE001 - whatever it raises is a refusal
        return f"{type(wrong).__name__}: {wrong}"
    return ""
