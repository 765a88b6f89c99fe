"""A Kubernetes cluster on this machine."""

from __future__ import annotations

from constructs import Construct

from itbc.stacks import properties
from itbc.stacks.root_module import RootModule, literal


class EmbeddedCluster(RootModule):
    """One `itbc_embedded_cluster`; gives its kubeconfig, its address and its id to the stacks that follow."""

    def __init__(self, scope: Construct, given: properties.EmbeddedCluster) -> None:
        """Make the stack."""
        super().__init__(scope, given.id)
        cluster = self.resource(
            "itbc_embedded_cluster",
            given.name,
            {
                "name": literal(given.name),
                "nodes": given.nodes,
                "run_id": self.input("run_id"),
                "state_dir": self.input("state_dir"),
                "expires": self.input("expires"),
            },
        )
        self.output("kubeconfig", cluster, "kubeconfig", "Path of the administrator's kubeconfig.")
        self.output("address", cluster, "address", "Address of the node.")
        self.output("cluster", cluster, "id", "Id of the cluster.")
