"""Whether a cluster that was made still lives."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

import httpx

from itbc.providers.embedded import process
from itbc.providers.embedded.api import Api
from itbc.providers.embedded.errors import NodeHostDied
from itbc.providers.embedded.record import ClusterState
from itbc.providers.embedded.waiting import INTERVAL, wait_for

_PATIENCE = 15.0


def host_lives(state: ClusterState) -> bool:
    """Whether the node host's process is there: the very one, not another with its number."""
    host = process.load(state.layout.host)
    return host is not None and process.alive(host)


def open_api(state: ClusterState) -> Api:
    """A client with admin rights; a context manager."""
    return Api(state.address, state.layout.pki, lambda: host_lives(state))


def lives(state: ClusterState, seconds: float = _PATIENCE) -> bool:
    """Whether the node host runs and its API server gets ready within a time (it may just be starting again)."""
    if not host_lives(state):
        return False
    deadline = time.monotonic() + seconds
    with open_api(state) as api:
        try:
            while not api.ready():
                if time.monotonic() > deadline:
                    return False
                time.sleep(INTERVAL)
        except NodeHostDied:
            return False
    return True


def wait_until_answering(state: ClusterState, urls: Mapping[str, str], seconds: float) -> None:
    """Wait until each of some URLs in the node, by what answers there, is answered well. Raises EmbeddedError."""
    for what, url in urls.items():
        wait_for(f"{what}'s readiness", partial(_answers, state, url), seconds)


def _answers(state: ClusterState, url: str) -> bool:
    if not host_lives(state):
        raise NodeHostDied("the cluster's node host isn't running any more")
    try:
        return httpx.get(url, timeout=5.0, trust_env=False).is_success
    except httpx.TransportError:
        return False
