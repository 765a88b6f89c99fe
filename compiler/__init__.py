"""From a checked scenario to an artefact folder."""

from itbc.compiler.compilation import compile_scenario
from itbc.compiler.emit.folder import FolderError
from itbc.stacks.synthesis import SynthesisError

__all__ = ["FolderError", "SynthesisError", "compile_scenario"]
