"""What of the network an agent is given: what its scenario grants, and what its user does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from itbc.providers.kubernetes.kubeconfig import KubeconfigError, read_access
from itbc.runner.failures import StepFailed
from itbc.runner.sandbox.network import Address, Network, Unresolved, WrongAddress, address_of, make_network
from itbc.runner.steps.access import Access


def reach(accesses: Iterable[Access], also: Iterable[Address] = ()) -> Network:
    """Each cluster's API server, the servers of the signals that an agent is shown, and the user's addresses.

    Raises StepFailed where one of them can't be known.
    """
    try:
        return make_network([*_of_scenario(accesses), *also])
    except Unresolved as wrong:
        raise StepFailed("environment", f"the agent can't be given its network: {wrong}", "try again") from wrong
    except (WrongAddress, KubeconfigError) as wrong:
        raise StepFailed("environment", f"the agent can't be given its network: {wrong}") from wrong


def _of_scenario(accesses: Iterable[Access]) -> Iterator[Address]:
    for access in accesses:
        server = read_access(Path(access.kubeconfig))
        yield address_of(server.proxy or server.server)
        yield from (address_of(url) for _, url in sorted(access.signals.items()))
