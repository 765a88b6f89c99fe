"""Images from Go sources, kept in the cache by what they are made from, and brought into clusters."""

from __future__ import annotations

import hashlib
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from itbc.providers.embedded import imagefile
from itbc.providers.embedded.errors import EmbeddedError
from itbc.stacks.toolchain import ToolchainError, static_image_program

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image in the cache: its tar, what it is called, and the digest that Kubernetes shows as its id."""

    tar: Path
    reference: str
    digest: str


def build(source: Path, reference: str, cache: Path, progress: Progress) -> BuiltImage:
    """The image of the Go main package in `source`, made first where the cache hasn't got it.

    Raises EmbeddedError with the compiler's words.
    """
    reference = qualified(reference)
    try:
        program = static_image_program(source, cache, progress)
    except ToolchainError as wrong:
        raise EmbeddedError(f"the image {reference} can't be built: {wrong.message}", wrong.remedy) from wrong
    content = program.read_bytes()
    made_from = (imagefile.FORMAT, architecture(), reference, hashlib.sha256(content).hexdigest())
    key = hashlib.sha256("\0".join(made_from).encode()).hexdigest()
    tar = cache / "images" / f"{key}.tar"
    if not tar.exists():
        _keep(tar, imagefile.pack(content, program_name(reference), reference, architecture()).tar)
    return BuiltImage(tar, reference, imagefile.digest_of(tar.read_bytes()))


def architecture() -> str:
    """This machine's processor as Go and the image format call it."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def qualified(reference: str) -> str:
    """A reference in full, as the container runtime keeps it: short ones mean Docker's registry, and `latest`.

    Raises EmbeddedError for one with a digest, which an image made here can't have.
    """
    if "@" in reference or not reference:
        raise EmbeddedError(f"{reference!r} can't be the name of an image made here: give it a tag, not a digest")
    domain, slash, _ = reference.partition("/")
    if not slash:
        reference = f"docker.io/library/{reference}"
    elif "." not in domain and ":" not in domain and domain != "localhost":
        reference = f"docker.io/{reference}"
    return reference if ":" in reference.rpartition("/")[2] else f"{reference}:latest"


def program_name(reference: str) -> str:
    """What the program is called in the image: the last part of the reference, without its tag."""
    return reference.rpartition("/")[2].partition(":")[0]


def _keep(tar: Path, data: bytes) -> None:
    tar.parent.mkdir(parents=True, exist_ok=True)
    # Several may make the same image at once: each writes its own file, and any of them will do.
    with tempfile.NamedTemporaryFile(dir=tar.parent, prefix=".part-", delete=False) as part:
        part.write(data)
    made = Path(part.name)
    made.chmod(0o644)
    made.replace(tar)
