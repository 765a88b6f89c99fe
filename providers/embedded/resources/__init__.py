"""The embedded target's Terraform resources."""

from __future__ import annotations

from itbc.providers.embedded.resources.cluster import EmbeddedCluster
from itbc.providers.embedded.resources.image import EmbeddedImage
from itbc.providers.embedded.resources.monitoring import EmbeddedMonitoring
from itbc.providers.embedded.resources.stores import EmbeddedLogs, EmbeddedTraces

RESOURCES = (EmbeddedCluster, EmbeddedImage, EmbeddedLogs, EmbeddedMonitoring, EmbeddedTraces)
"""All of them; each is made with the `Services` of whoever hosts it."""
