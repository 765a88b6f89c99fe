"""The programs itbc needs, found or brought."""

from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.golang import Go, go_binary, go_environment
from itbc.stacks.toolchain.node import KUBERNETES_VERSION, node_program
from itbc.stacks.toolchain.programs import static_image_program

__all__ = [
    "KUBERNETES_VERSION",
    "Go",
    "ToolchainError",
    "go_binary",
    "go_environment",
    "node_program",
    "static_image_program",
]
