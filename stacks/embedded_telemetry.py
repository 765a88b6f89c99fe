"""Prometheus and Alertmanager for a cluster on this machine."""

from __future__ import annotations

from constructs import Construct

from itbc.stacks import properties
from itbc.stacks.root_module import RootModule, artefact, literal


class EmbeddedTelemetry(RootModule):
    """One `itbc_embedded_monitoring`; gives the two base URLs."""

    def __init__(self, scope: Construct, given: properties.EmbeddedTelemetry) -> None:
        """Make the stack."""
        super().__init__(scope, given.id)
        monitoring = self.resource(
            "itbc_embedded_monitoring",
            given.cluster,
            {
                "cluster": self.input("cluster"),
                "state_dir": self.input("state_dir"),
                "rules": artefact(given.rules),
                "rules_digest": given.rules_digest,
                "namespaces": [literal(namespace) for namespace in given.namespaces],
            },
        )
        self.output("prometheus", monitoring, "prometheus", "Base URL of Prometheus.")
        self.output("alertmanager", monitoring, "alertmanager", "Base URL of Alertmanager.")
