"""The programs itbc needs, found or brought."""

from itbc.stacks.toolchain.debian import debian_packages, missing_packages
from itbc.stacks.toolchain.errors import ToolchainError
from itbc.stacks.toolchain.golang import Go, go_binary, go_environment
from itbc.stacks.toolchain.node import KUBERNETES_VERSION, node_program, node_program_is_built
from itbc.stacks.toolchain.preparation import cache_folder, prepare
from itbc.stacks.toolchain.programs import static_image_program
from itbc.stacks.toolchain.telemetry import telemetry_program, telemetry_program_place
from itbc.stacks.toolchain.terraform import terraform_binary

__all__ = [
    "KUBERNETES_VERSION",
    "Go",
    "ToolchainError",
    "cache_folder",
    "debian_packages",
    "go_binary",
    "go_environment",
    "missing_packages",
    "node_program",
    "node_program_is_built",
    "prepare",
    "static_image_program",
    "telemetry_program",
    "telemetry_program_place",
    "terraform_binary",
]
