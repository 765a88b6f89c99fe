"""How later steps reach a cluster: from the outputs of its stacks."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager

import httpx

from itbc.contracts.shape import Shape
from itbc.runner.steps.provision import ProvisionOutput
from itbc.runner.surroundings import Surroundings


class Access(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cluster's accesses: a kubeconfig file with admin rights, and the base URLs of its monitoring.

    `signals` are the base URLs that an agent is shown, by signal.
    """

    cluster: str
    kubeconfig: str
    prometheus: str
    alertmanager: str
    namespaces: list[str]
    signals: dict[str, str] = {}


def accesses(around: Surroundings, provisioned: ProvisionOutput) -> list[Access]:
    """The accesses of all clusters. Raises StepFailed where a stack didn't give an output it should."""
    return [
        Access(
            cluster=each.name,
            kubeconfig=provisioned.value(each.kubeconfig),
            prometheus=provisioned.value(each.prometheus),
            alertmanager=provisioned.value(each.alertmanager),
            namespaces=each.namespaces,
            signals={signal: provisioned.value(output) for signal, output in each.signals.items()},
        )
        for each in around.environment.clusters
    ]


def of_cluster(found: list[Access], cluster: str) -> Access:
    """The access of one cluster; an empty name means the only one. Raises KeyError."""
    for each in found:
        if each.cluster == cluster or not cluster:
            return each
    raise KeyError(cluster)


@contextmanager
def prometheus_clients(found: Iterable[Access], answer_seconds: float) -> Generator[dict[str, httpx.Client]]:
    """A client for each cluster's Prometheus, by the cluster's name; they are closed when the block ends.

    `answer_seconds` is how long it may take for an answer. Neither a proxy nor
    anything else of the user's environment has a say in it.
    """
    with ExitStack() as clients:
        yield {
            each.cluster: clients.enter_context(
                httpx.Client(base_url=each.prometheus, timeout=answer_seconds, trust_env=False)
            )
            for each in found
        }
