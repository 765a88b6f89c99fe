"""The container runtime of a running node: images in, images out."""

from __future__ import annotations

from pathlib import Path

from itbc.providers.embedded import process, tools
from itbc.providers.embedded.errors import EmbeddedError, NodeHostDied
from itbc.providers.embedded.layout import CONTAINERD_SOCKET, Layout


def inner_pid(layout: Layout) -> int | None:
    """The number, on this machine, of the node's first process; None where it hasn't started yet.

    Raises NodeHostDied where the node host is gone.
    """
    host = process.load(layout.host)
    if host is None or not process.alive(host):
        raise NodeHostDied("the cluster's node host isn't running any more")
    return next(iter(process.children(host.pid)), None)


def ready(layout: Layout) -> bool:
    """Whether the runtime listens yet. Raises NodeHostDied."""
    pid = inner_pid(layout)
    return pid is not None and Path(f"/proc/{pid}/root{CONTAINERD_SOCKET}").exists()


def import_image(layout: Layout, tar: Path) -> None:
    """Load an image's tar. Raises EmbeddedError with the runtime's words."""
    with tar.open("rb") as file:
        done = tools.run(_ctr(layout, "import", "-"), file)
    if done.returncode:
        raise EmbeddedError(f"the image {tar} can't be loaded: {done.stderr.strip()}")


def images(layout: Layout) -> list[str]:
    """The references of the images the node has."""
    done = tools.run(_ctr(layout, "list", "--quiet"))
    if done.returncode:
        raise EmbeddedError(f"the node's images can't be listed: {done.stderr.strip()}")
    return done.stdout.split()


def remove_image(layout: Layout, reference: str) -> None:
    """Remove an image; nothing where it isn't there."""
    done = tools.run(_ctr(layout, "remove", reference))
    if done.returncode and "not found" not in done.stderr:
        raise EmbeddedError(f"the image {reference} can't be removed: {done.stderr.strip()}")


def _ctr(layout: Layout, *words: str) -> list[str]:
    pid = inner_pid(layout)
    if pid is None:
        raise EmbeddedError("the node's first process hasn't started yet")
    # Into the node's namespaces, since its socket is in a /run that only the node sees.
    enter = ["nsenter", f"--target={pid}", "--mount", "--net", "--pid", "--root", "--wd", "--"]
    return [*enter, "ctr", f"--address={CONTAINERD_SOCKET}", "--namespace=k8s.io", "images", *words]
