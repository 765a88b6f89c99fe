"""The embedded target's Terraform resources, one a file."""

from __future__ import annotations

from itbc.providers.embedded.resources.cluster import EmbeddedCluster
from itbc.providers.embedded.resources.image import EmbeddedImage
from itbc.providers.embedded.resources.monitoring import EmbeddedMonitoring

RESOURCES = (EmbeddedCluster, EmbeddedImage, EmbeddedMonitoring)
"""All of them; each is made with the `Services` of whoever hosts it."""
