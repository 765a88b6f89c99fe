from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from itbc.providers.embedded import imagefile, images
from itbc.providers.embedded.errors import EmbeddedError

PROGRAM = b"\x7fELF and so on"


def members(data: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {member.name: member for member in archive.getmembers()}


def content(data: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        file = archive.extractfile(name)
        assert file is not None
        return file.read()


def test_the_same_program_gives_the_same_bytes() -> None:
    first = imagefile.pack(PROGRAM, "shop", "itbc.local/shop:1", "amd64")
    second = imagefile.pack(PROGRAM, "shop", "itbc.local/shop:1", "amd64")
    assert first == second
    assert imagefile.digest_of(first.tar) == first.digest
    assert imagefile.pack(PROGRAM + b"!", "shop", "itbc.local/shop:1", "amd64").digest != first.digest


def test_nothing_of_this_machine_gets_in() -> None:
    made = imagefile.pack(PROGRAM, "shop", "itbc.local/shop:1", "amd64")
    (manifest,) = json.loads(content(made.tar, "manifest.json"))
    layer = content(made.tar, manifest["Layers"][0])
    for member in (*members(made.tar).values(), *members(layer).values()):
        assert (member.mtime, member.uid, member.gid, member.uname, member.gname) == (0, 0, 0, "", "")


def test_the_image_runs_its_one_file() -> None:
    made = imagefile.pack(PROGRAM, "shop", "itbc.local/shop:1", "arm64")
    (manifest,) = json.loads(content(made.tar, "manifest.json"))
    configuration = json.loads(content(made.tar, manifest["Config"]))
    assert manifest["RepoTags"] == ["itbc.local/shop:1"]
    assert configuration["config"]["Entrypoint"] == ["/shop"]
    assert configuration["architecture"] == "arm64"
    (program,) = members(content(made.tar, manifest["Layers"][0])).values()
    assert (program.name, program.mode) == ("shop", 0o755)
    assert content(content(made.tar, manifest["Layers"][0]), "shop") == PROGRAM


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("itbc.local/shop:1", "itbc.local/shop:1"),
        ("localhost/shop:1", "localhost/shop:1"),
        ("registry:5000/shop", "registry:5000/shop:latest"),
        ("shop", "docker.io/library/shop:latest"),
        ("team/shop:2", "docker.io/team/shop:2"),
    ],
)
def test_references_are_written_out_as_the_runtime_does(short: str, full: str) -> None:
    assert images.qualified(short) == full
    assert images.program_name(full) == "shop"


@pytest.mark.parametrize("wrong", ["", "shop@sha256:00"])
def test_a_digest_can_be_no_name(wrong: str) -> None:
    with pytest.raises(EmbeddedError, match="give it a tag"):
        images.qualified(wrong)


def test_what_cannot_be_built_is_said(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedError, match="can't be built"):
        images.build(tmp_path, "itbc.local/shop:1", tmp_path / "cache", lambda _line: None)
