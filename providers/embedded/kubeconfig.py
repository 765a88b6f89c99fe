"""kubeconfig files with everything in them, so that each can be copied on its own."""

from __future__ import annotations

import json
from pathlib import Path

from itbc.providers.embedded.files import write
from itbc.providers.embedded.pki import encoded

PORT = 6443


def write_kubeconfig(path: Path, cluster: str, server: str, pki: Path, user: str) -> None:
    """Write the kubeconfig of `user` (`USER.crt` and `USER.key` in `pki`) for the API server at an address."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": cluster,
        "clusters": [
            {
                "name": cluster,
                "cluster": {
                    "server": f"https://{server}:{PORT}",
                    "certificate-authority-data": encoded(pki / "ca.crt"),
                },
            }
        ],
        "users": [
            {
                "name": user,
                "user": {
                    "client-certificate-data": encoded(pki / f"{user}.crt"),
                    "client-key-data": encoded(pki / f"{user}.key"),
                },
            }
        ],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
    }
    write(path, json.dumps(content, indent=2, sort_keys=True) + "\n")
