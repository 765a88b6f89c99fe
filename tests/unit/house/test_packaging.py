"""The house holds: one importable name, and a wheel that carries everything the program reads at run time."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
LINKED = ("dsl", "compiler", "providers", "evaluators", "stacks")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
    )
    (wheel,) = out.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize("name", LINKED)
def test_each_top_level_folder_is_linked_into_the_package(name: str):
    link = ROOT / "src" / "itbc" / name
    assert link.is_symlink()
    assert link.resolve() == ROOT / name


def test_the_wheel_has_one_top_level_name(wheel_names: set[str]):
    tops = {name.split("/")[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"itbc"}


def test_the_wheel_has_every_file_of_the_package_folders(wheel_names: set[str]):
    tracked = subprocess.run(
        ["git", "ls-files", *LINKED, "src/itbc"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    wanted = {"itbc/" + name.removeprefix("src/itbc/") for name in tracked} - {f"itbc/{name}" for name in LINKED}
    assert wanted - wheel_names == set()


def test_every_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [Requirement(text) for text in (*project["project"]["dependencies"], *project["dependency-groups"]["dev"])]
    lines = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    pinned = {canonicalize_name(name): version for name, version in lines}
    missing = [str(each) for each in wanted if pinned.get(canonicalize_name(each.name), "") not in each.specifier]
    assert missing == [], "run `make lock`"
