"""What a cluster is, on disk, for whoever comes later."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from ipaddress import IPv4Network
from pathlib import Path

from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.files import write
from itbc.providers.embedded.layout import Layout
from itbc.providers.embedded.spec import cluster_name


@dataclass(frozen=True, slots=True)
class ClusterState:
    """A cluster that has been made. Whether it still lives is another question (`liveness.py`).

    `address` is the node's, reachable from this machine; `program` the node
    program it runs; `folder` its state folder.
    """

    identity: str
    name: str
    folder: Path
    node_name: str
    address: str
    link: str
    range: IPv4Network
    program: Path
    expires: str

    @property
    def layout(self) -> Layout:
        """Where everything of it lies."""
        return Layout(self.folder)

    @property
    def kubeconfig(self) -> Path:
        """Admin rights, for this machine."""
        return self.layout.kubeconfig


def save(state: ClusterState) -> None:
    """Write the record into the cluster's state folder."""
    data = {key: value if isinstance(value, str) else str(value) for key, value in asdict(state).items()}
    write(state.layout.record, json.dumps(data, indent=2, sort_keys=True) + "\n")


def load(folder: Path) -> ClusterState | None:
    """The record of a state folder; None where there is none (any more, or yet)."""
    try:
        data = json.loads(Layout(folder).record.read_text())
        return ClusterState(
            identity=str(data["identity"]),
            name=str(data["name"]),
            folder=folder,
            node_name=str(data["node_name"]),
            address=str(data["address"]),
            link=str(data["link"]),
            range=IPv4Network(data["range"]),
            program=Path(data["program"]),
            expires=str(data["expires"]),
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError) as wrong:
        raise EmbeddedError(f"{Layout(folder).record} is no record of a cluster: {wrong}") from wrong


def find(state_dir: Path, identity: str) -> ClusterState | None:
    """The record of a cluster by its id, below the folder that holds the run's clusters."""
    state = load(state_dir / cluster_name(identity))
    return state if state is not None and state.identity == identity else None
