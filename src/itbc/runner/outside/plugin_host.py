"""Serves the provider to Terraform from this very process, over a Unix socket in a private folder.

Terraform attaches to it by TF_REATTACH_PROVIDERS, so that nothing has to be
installed, no lock file ties a run to a virtual environment, and a resource's
calls end properly even when terraform is killed: they run here. Terraform's
Stop request is acknowledged and otherwise ignored, because the calls in flight
must reach their end to be written to the state.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

# Before gRPC is loaded: nothing here forks but to start a program, and it would print a line for each of those.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")

import grpc
from tf.gen import grpc_controller_pb2, grpc_controller_pb2_grpc, grpc_stdio_pb2_grpc, tfplugin_pb2_grpc
from tf.provider import ProviderServicer

from itbc.providers.plugin import Plugin

WORKERS = 16
"""More than Terraform's default of ten operations at once, so that a short call never waits for ten long ones."""

DRAIN_SECONDS = 30.0


class _Controller(grpc_controller_pb2_grpc.GRPCControllerServicer):  # type: ignore[misc]
    """go-plugin's shutdown request: Terraform doesn't own this process, so it only gets an answer."""

    def Shutdown(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - the name is the protocol's
        """Acknowledge."""
        return grpc_controller_pb2.Empty()


class _Stdio(grpc_stdio_pb2_grpc.GRPCStdioServicer):  # type: ignore[misc]
    """go-plugin's stream of a plugin's output: there is none, this process reports progress itself."""

    def StreamStdio(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802, ARG002
        """An empty stream."""
        return iter(())


@contextmanager
def serve(plugin: Plugin, folder: Path) -> Generator[dict[str, str]]:
    """Serve the provider while the block runs. Gives the environment variables that make Terraform use it.

    `folder` is made (0700) for the socket and removed afterwards. Raises
    OSError when the socket can't be made.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    socket = folder / "s"
    socket.unlink(missing_ok=True)
    server = grpc.server(ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="provider"))
    tfplugin_pb2_grpc.add_ProviderServicer_to_server(ProviderServicer(cast("Any", plugin)), server)
    grpc_controller_pb2_grpc.add_GRPCControllerServicer_to_server(_Controller(), server)
    grpc_stdio_pb2_grpc.add_GRPCStdioServicer_to_server(_Stdio(), server)
    try:
        server.add_insecure_port(f"unix:{socket}")
    except RuntimeError as wrong:
        raise OSError(f"can't serve the provider on {socket}: {wrong}") from wrong
    server.start()
    try:
        yield {"TF_REATTACH_PROVIDERS": reattach(plugin.full_name(), socket)}
    finally:
        server.stop(grace=DRAIN_SECONDS).wait()
        socket.unlink(missing_ok=True)
        folder.rmdir()


def reattach(address: str, socket: Path) -> str:
    """The value of TF_REATTACH_PROVIDERS for a provider served on `socket` by this process."""
    return json.dumps(
        {
            address: {
                "Protocol": "grpc",
                "ProtocolVersion": 6,
                "Pid": os.getpid(),
                "Test": True,
                "Addr": {"Network": "unix", "String": str(socket)},
            }
        },
        sort_keys=True,
    )
