"""Serves the tools over streamable HTTP on the loopback address, to whoever has the run's token."""

from __future__ import annotations

import functools
import logging
import secrets
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from itbc.runner.mcp.place import Place
from itbc.runner.mcp.tools import offered

ADDRESS = "127.0.0.1"
PATH = "/mcp"
LOG = "mcp.log"

LONGEST_BODY = 1 << 20
"""What a request may hold, in bytes: manifests are the largest."""

_GRACE_SECONDS = 2
_INSTRUCTIONS = """You are on call. Call `task` first: it says what is wrong and what you have. Look, repair, see that
it is repaired, then call `submit` with the root causes."""


@dataclass(frozen=True, slots=True)
class Served:
    """Where the tools are, and the token that opens them. `left` is set once a client has closed its session."""

    url: str
    token: str
    left: threading.Event

    def settings(self) -> dict[str, Any]:
        """What MCP clients take as their configuration."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return {"mcpServers": {"itbc": {"type": "http", "url": self.url, "headers": headers}}}


class _Door:
    """Lets only those through who have the token, and sees them leave."""

    def __init__(self, app: ASGIApp, served: Served) -> None:
        self._app = app
        self._expected = f"Bearer {served.token}".encode()
        self._left = served.left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 without the token."""
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, self._expected):
                refusal = PlainTextResponse("the token is missing or wrong\n", 401, {"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "DELETE":
            self._left.set()


@contextmanager
def serving(place: Place, folder: Path) -> Generator[Served]:
    """Serve a place's tools while the block runs. What goes wrong in a tool is written to a log in `folder`."""
    with socket.create_server((ADDRESS, 0)) as listener, _logged(folder / LOG):
        port = listener.getsockname()[1]
        served = Served(f"http://{ADDRESS}:{port}{PATH}", secrets.token_urlsafe(32), threading.Event())
        server = uvicorn.Server(
            uvicorn.Config(
                _Door(_application(place, port), served),
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="mcp", daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.should_exit = True
            thread.join()


def _application(place: Place, port: int) -> ASGIApp:
    server = MCPServer("itbc", instructions=_INSTRUCTIONS, subscriptions=False)
    for tool in offered(place):
        server.add_tool(_in_thread(tool), structured_output=False)
    hosts = [f"{ADDRESS}:{port}", f"localhost:{port}"]
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LONGEST_BODY,
        # A page in somebody's browser may not talk to it.
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[]),
    )


def _in_thread(tool: Callable[..., str]) -> Callable[..., Any]:
    """A tool that the server doesn't stand still for."""

    @functools.wraps(tool)
    async def call(*arguments: Any, **named: Any) -> str:
        return await anyio.to_thread.run_sync(functools.partial(tool, *arguments, **named))

    return call


@contextmanager
def _logged(path: Path) -> Generator[None]:
    """Have what the libraries log go to a file, and nowhere else."""
    handler = logging.FileHandler(path, delay=True)
    handler.setLevel(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("mcp", "uvicorn")]
    before = [each.propagate for each in loggers]
    for each in loggers:
        each.addHandler(handler)
        each.propagate = False
    try:
        yield
    finally:
        for each, propagate in zip(loggers, before, strict=True):
            each.removeHandler(handler)
            each.propagate = propagate
        handler.close()
