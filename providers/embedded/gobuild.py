"""Images from Go sources, built once and kept in the cache by what they are made from."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from itbc.providers.embedded import imagefile
from itbc.providers.embedded.errors import EmbeddedError

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_IGNORED = frozenset({".git", "testdata"})
_PASSED = ("PATH", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image in the cache."""

    tar: Path
    reference: str
    digest: str


def architecture() -> str:
    """This machine's processor as Go and the image format call it."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def source_digest(source: Path) -> str:
    """The SHA-256 of a Go module's files, names and contents. Raises EmbeddedError where `source` lies in no module."""
    module = _module(source)
    digest = hashlib.sha256(str(source.relative_to(module)).encode())
    for path in sorted(module.rglob("*")):
        relative = path.relative_to(module)
        if not path.is_file() or _IGNORED.intersection(relative.parts) or path.name.endswith("_test.go"):
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"\0{relative.as_posix()}\0{content}".encode())
    return digest.hexdigest()


def build(source: Path, reference: str, cache: Path, environ: Mapping[str, str] = os.environ) -> BuiltImage:
    """Build the main package in `source` and pack it, unless the cache has that already.

    Raises EmbeddedError with the compiler's words.
    """
    source = source.resolve()
    key = hashlib.sha256(
        "\0".join((imagefile.FORMAT, architecture(), reference, source_digest(source))).encode()
    ).hexdigest()[:32]
    tar = cache / "images" / f"{key}.tar"
    if not tar.exists():
        image = imagefile.pack(_compile(source, environ), program_name(reference), reference, architecture())
        _keep(tar, image.tar)
    return BuiltImage(tar, reference, imagefile.digest_of(tar.read_bytes()))


def program_name(reference: str) -> str:
    """What the program is called in the image: the last part of the reference, without tag and digest."""
    return reference.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _module(source: Path) -> Path:
    if not source.is_dir():
        raise EmbeddedError(f"the image's source {source} is no folder")
    for folder in (source, *source.parents):
        if (folder / "go.mod").is_file():
            return folder
    raise EmbeddedError(f"the image's source {source} belongs to no Go module: there is no go.mod")


def _compile(source: Path, environ: Mapping[str, str]) -> bytes:
    go = shutil.which("go", path=environ.get("PATH"))
    if go is None:
        raise EmbeddedError("the Go compiler is missing, which builds the images", "Run `itbc doctor` for how to get it.")
    settings = {name: value for name, value in environ.items() if name in _PASSED or name.startswith("GO")}
    with tempfile.TemporaryDirectory(prefix="itbc-image-") as folder:
        program = Path(folder) / "program"
        done = subprocess.run(
            (go, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", str(program), "."),
            cwd=source,
            env={**settings, "CGO_ENABLED": "0", "GOOS": "linux", "GOARCH": architecture(), "GOWORK": "off"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise EmbeddedError(f"`go build` in {source} failed:\n{done.stderr.strip()[-4000:]}")
        return program.read_bytes()


def _keep(tar: Path, data: bytes) -> None:
    tar.parent.mkdir(parents=True, exist_ok=True)
    # Several may build the same image at once: each writes its own file, and any of them will do.
    with tempfile.NamedTemporaryFile(dir=tar.parent, prefix=".part-", delete=False) as part:
        part.write(data)
    Path(part.name).replace(tar)
