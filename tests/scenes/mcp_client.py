"""A client as an agent's maker would write one: the official one, with the settings that itbc hands out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

Result = TypeVar("Result")


def settings_in(folder: Path, pattern: str, seconds: float = 300.0) -> tuple[str, dict[str, str]]:
    """The URL and the headers in a file of settings, once it is there."""
    deadline = time.monotonic() + seconds
    while not (found := list(folder.glob(pattern))):
        assert time.monotonic() < deadline, f"no {pattern} in {folder}"
        time.sleep(0.05)
    assert found[0].stat().st_mode & 0o777 == 0o600
    server = json.loads(found[0].read_text())["mcpServers"]["itbc"]
    return server["url"], server["headers"]


def connected(url: str, headers: dict[str, str], work: Callable[[Client], Awaitable[Result]]) -> Result:
    """What `work` gives when it is called with a connected client."""

    async def whole() -> Result:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120, trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await work(client)

    return asyncio.run(whole())


async def said(client: Client, tool: str, **arguments: Any) -> tuple[bool, str]:
    """Call a tool. Returns whether it went well, and its text."""
    result = await client.call_tool(tool, arguments)
    return not result.is_error, "".join(getattr(each, "text", "") for each in result.content)
