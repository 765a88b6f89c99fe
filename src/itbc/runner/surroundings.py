"""What a step is given besides its input: everything that isn't data."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from itbc.contracts.environment import Cluster, Environment
from itbc.contracts.mask import Mask, parse_mask
from itbc.contracts.shape import Origin
from itbc.providers.kubernetes.client import Client, ClusterError
from itbc.providers.kubernetes.kubeconfig import KubeconfigError
from itbc.providers.plugin import Plugin, ResourceClass
from itbc.providers.services import Running, Services, Sweeper
from itbc.runner.failures import StepFailed
from itbc.runner.home import Home, RunFolder
from itbc.runner.leftovers.ledger import FileLedger
from itbc.runner.outside.plugin_host import serve
from itbc.runner.outside.terraform import RootModule, Terraform
from itbc.runner.waiting import Patience


@dataclass(frozen=True, slots=True)
class Tools:
    """The programs of other people that a run needs, and what the targets bring along (`running`: by target)."""

    terraform: Path
    kubectl: Path
    resources: Sequence[ResourceClass]
    sweepers: Mapping[str, Sweeper]
    running: Mapping[str, Running]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The run's folder and ledger, the outside programs, the clock, and lines for the user: of progress, and to see.

    `own_masks` are the run's, besides the scenario's. `patience` stops with the
    user's first wish to stop; `last_patience`, which destroying goes by, only with the second.
    """

    home: Home
    run: RunFolder
    environment: Environment
    origins: Mapping[str, Origin]
    expires: str
    own_masks: Sequence[Mask]
    tools: Tools
    ledger: FileLedger
    patience: Patience
    last_patience: Patience
    now: Callable[[], datetime]
    tell: Callable[[str], None]
    say: Callable[[str], None]
    variables: Mapping[str, str]

    def masks(self, cluster: Cluster) -> list[Mask]:
        """What an agent must not see of a cluster's telemetry: what its scenario says, and what this run was told."""
        return sorted({*(parse_mask(each) for each in cluster.masks), *self.own_masks})

    @contextmanager
    def terraform(self, patience: Patience) -> Generator[Terraform]:
        """Terraform with our provider served to it while the block runs."""
        services = Services(home=self.run.path, cache=self.home.cache, ledger=self.ledger, progress=self.tell)
        plugin = Plugin(services, self.tools.resources)
        with serve(plugin, self.run.path / "provider") as reattach:
            yield Terraform(
                program=self.tools.terraform,
                folder=self.run.terraform,
                environment=self.variables,
                extra=reattach,
                stop=patience.stop,
                monotonic=patience.monotonic,
            )

    def module(self, stack: str) -> RootModule:
        """A stack's files in the run's copy of the artefacts, and its state in the run's own folder."""
        folder = next(each.folder for each in self.environment.stacks if each.id == stack)
        return RootModule(self.run.artefacts / folder, self.run.terraform / stack)

    @contextmanager
    def cluster(self, name: str, kubeconfig: str) -> Generator[Client]:
        """A client for a cluster while the block runs; what it raises comes out as the environment's failure."""
        try:
            with Client.from_kubeconfig(Path(kubeconfig)) as client:
                yield client
        except (ClusterError, KubeconfigError) as wrong:
            raise StepFailed("environment", f"cluster {name}: {wrong}", "run with --keep and look at it") from wrong
