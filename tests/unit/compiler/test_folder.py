"""Artefact folders: written whole, replaced only where nothing of anybody else's is lost."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from itbc.compiler.emit.folder import FolderError, digests, write_folder
from itbc.contracts.manifest import Manifest
from itbc.contracts.shape import read

FILES = {"environment.json": b"{}", "files/a/b.txt": b"b"}


def manifest(files: dict[str, bytes]) -> Manifest:
    return Manifest(compiler="0", scenario="s", title="t", persona="sre", target="x", files=digests(files), origins={})


def write(out: Path, files: dict[str, bytes] | None = None) -> None:
    files = FILES if files is None else files
    write_folder(out, files, manifest(files))


def content(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_new_folder_is_whole_and_its_owners_alone(tmp_path: Path):
    out = tmp_path / "deep" / "out"
    write(out)
    assert content(out) == {*FILES, "manifest.json"}
    assert read(out / "manifest.json", Manifest) == manifest(FILES)
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_an_artefact_folder_is_replaced_without_leftovers(tmp_path: Path):
    out = tmp_path / "out"
    write(out)
    write(out, {"other.json": b"{}"})
    assert content(out) == {"other.json", "manifest.json"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_is_used(tmp_path: Path):
    (tmp_path / "out").mkdir()
    write(tmp_path / "out")
    assert "manifest.json" in content(tmp_path / "out")


def test_another_folder_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FolderError, match="holds something else"):
        write(tmp_path)
    assert content(tmp_path) == {"thesis.txt"}


def test_the_whole_file_system_is_refused_without_walking_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Path, "rglob", lambda *_: pytest.fail("walked the file system"))
    with pytest.raises(FolderError, match="holds something else"):
        write(Path("/"))


def test_a_folder_with_somebody_elses_manifest_is_left_alone(tmp_path: Path):
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    with pytest.raises(FolderError, match="holds something else"):
        write(tmp_path)


def test_a_state_made_by_hand_is_not_lost(tmp_path: Path):
    out = tmp_path / "out"
    write(out)
    (out / "files" / "terraform.tfstate").write_text("{}")
    with pytest.raises(FolderError, match=r"terraform\.tfstate") as raised:
        write(out)
    assert "destroy" in raised.value.remedy
    assert (out / "files" / "terraform.tfstate").exists()


def test_a_file_or_a_link_is_no_folder(tmp_path: Path):
    (tmp_path / "file").write_text("")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for out in (tmp_path / "file", tmp_path / "link"):
        with pytest.raises(FolderError, match="isn't a folder"):
            write(out)


def test_a_place_that_can_not_be_written_is_said(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="can't write"):
        write(tmp_path / "file" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
