"""An image of one static program, as a tar that `ctr images import` reads: same program, same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass

FORMAT = "1"
"""Changes whenever the same program would give another image, so that old images in the cache aren't taken for it."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image's tar and the digest of its configuration, which is the id Kubernetes shows."""

    tar: bytes
    digest: str


def pack(program: bytes, name: str, reference: str, architecture: str) -> Image:
    """An image whose only file is `/NAME`, which is what it runs, as root unless the pod says otherwise."""
    layer = _tar([(name, program, 0o755)])
    configuration = _json(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {"Entrypoint": [f"/{name}"], "Env": ["PATH=/"], "WorkingDir": "/"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{_sha(layer)}"]},
            "history": [{"created_by": "itbc"}],
        }
    )
    manifest = [
        {"Config": f"{_sha(configuration)}.json", "RepoTags": [reference], "Layers": [f"{_sha(layer)}/layer.tar"]}
    ]
    tar = _tar(
        [
            (f"{_sha(configuration)}.json", configuration, 0o644),
            (f"{_sha(layer)}/layer.tar", layer, 0o644),
            ("manifest.json", _json(manifest), 0o644),
        ]
    )
    return Image(tar, f"sha256:{_sha(configuration)}")


def digest_of(tar: bytes) -> str:
    """The digest `pack` gave with this tar."""
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        file = archive.extractfile("manifest.json")
        if file is None:
            raise ValueError("manifest.json is no file")
        return "sha256:" + str(json.load(file)[0]["Config"]).removesuffix(".json")


def _tar(entries: list[tuple[str, bytes, int]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data, mode in entries:
            # A TarInfo made by hand has no owner and no time: nothing of this machine gets in.
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = mode
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
