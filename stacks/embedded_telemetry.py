"""What is seen of a cluster on this machine: metrics, alerts, and traces and logs where they are wanted."""

from __future__ import annotations

from constructs import Construct

from itbc.stacks import properties
from itbc.stacks.root_module import RootModule, artefact, literal


class EmbeddedTelemetry(RootModule):
    """One `itbc_embedded_monitoring` and a store for every other signal.

    Gives two base URLs for the harness, and one for each signal as an agent is shown it.
    """

    def __init__(self, scope: Construct, given: properties.EmbeddedTelemetry) -> None:
        """Make the stack."""
        super().__init__(scope, given.id)
        where = {name: self.input(name) for name in ("cluster", "state_dir", "masks")}
        monitoring = self.resource(
            "itbc_embedded_monitoring",
            given.cluster,
            {
                **where,
                "rules": artefact(given.rules),
                "rules_digest": given.rules_digest,
                "namespaces": [literal(namespace) for namespace in given.namespaces],
            },
        )
        self.output("prometheus", monitoring, "prometheus", "Base URL of Prometheus.")
        self.output("alertmanager", monitoring, "alertmanager", "Base URL of Alertmanager.")
        self.output("metrics", monitoring, "metrics", "Base URL of the Prometheus that an agent is shown.")
        self.output("alerts", monitoring, "alerts", "Base URL of the Alertmanager that an agent is shown.")
        for signal in given.stores:
            store = self.resource(f"itbc_embedded_{signal}", given.cluster, where)
            self.output(signal, store, "url", f"Base URL of what answers queries for {signal}.")
