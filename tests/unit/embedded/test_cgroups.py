from __future__ import annotations

from pathlib import Path

import pytest

from itbc.providers.cgroups import Hierarchy, hierarchies
from itbc.providers.embedded import cgroups
from itbc.providers.embedded.errors import EmbeddedError


def mounts(folder: Path, *lines: str) -> Path:
    file = folder / "mounts"
    file.write_text("".join(f"{line} 0 0\n" for line in lines))
    return file


def unified(folder: Path, controllers: str, handed_down: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.controllers").write_text(f"{controllers}\n")
    (folder / "cgroup.subtree_control").write_text(f"{handed_down}\n")
    return folder


def test_one_hierarchy_for_each_controller(tmp_path: Path) -> None:
    file = mounts(
        tmp_path,
        "tmpfs /sys/fs/cgroup tmpfs rw",
        "cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,nodev,noexec,relatime,memory",
        "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct",
        "cgroup /sys/fs/cgroup/systemd cgroup rw,xattr,name=systemd",
    )
    assert hierarchies(file) == [
        Hierarchy(Path("/sys/fs/cgroup/cpu,cpuacct"), 1, frozenset({"cpu", "cpuacct"})),
        Hierarchy(Path("/sys/fs/cgroup/memory"), 1, frozenset({"memory"})),
        Hierarchy(Path("/sys/fs/cgroup/systemd"), 1, frozenset()),
    ]


def test_the_unified_hierarchy(tmp_path: Path) -> None:
    place = unified(tmp_path / "a cgroup", "cpuset cpu io memory pids")
    file = mounts(tmp_path, f"cgroup2 {str(place).replace(' ', chr(92) + '040')} cgroup2 rw,nsdelegate")
    (found,) = hierarchies(file)
    assert found == Hierarchy(place, 2, frozenset({"cpuset", "cpu", "io", "memory", "pids"}))
    assert cgroups.missing_controllers([found]) == []


def test_both_at_once_and_what_they_lack(tmp_path: Path) -> None:
    place = unified(tmp_path / "unified", "hugetlb")
    file = mounts(
        tmp_path, f"cgroup2 {place} cgroup2 rw", "cgroup /memory cgroup rw,memory", "cgroup /cpu cgroup rw,cpu"
    )
    found = hierarchies(file)
    assert [each.version for each in found] == [1, 1, 2]
    assert cgroups.missing_controllers(found) == ["cpuset", "pids"]


def test_a_group_of_version_one_gets_processors_and_memory(tmp_path: Path) -> None:
    (tmp_path / "cpuset.cpus").write_text("0-3\n")
    (tmp_path / "cpuset.mems").write_text("0\n")
    (system,) = cgroups.create("itbc-run.shop", [Hierarchy(tmp_path, 1, frozenset({"cpuset"}))])
    assert system == tmp_path / "itbc-run.shop" / "system"
    for folder in (system, system.parent):
        assert (folder / "cpuset.cpus").read_text() == "0-3\n"
        assert (folder / "cpuset.mems").read_text() == "0\n"


def test_groups_can_be_made_again_and_removed(tmp_path: Path) -> None:
    found = [Hierarchy(tmp_path, 1, frozenset({"memory"}))]
    assert cgroups.create("itbc-run.shop", found) == cgroups.create("itbc-run.shop", found)
    (tmp_path / "itbc-run.shop/kubepods/burstable").mkdir(parents=True)
    (tmp_path / "itbc-run.shop2").mkdir()
    assert cgroups.remove("itbc-run.shop", found) == 4
    assert cgroups.remove("itbc-run.shop", found) == 0
    assert (tmp_path / "itbc-run.shop2").is_dir()


def test_controllers_are_handed_down_in_version_two(tmp_path: Path) -> None:
    root = unified(tmp_path, "cpu memory pids", "memory")
    group = unified(tmp_path / "itbc-run.shop", "cpu memory pids")
    unified(group / "system", "cpu memory pids")
    cgroups.create("itbc-run.shop", [Hierarchy(root, 2, frozenset({"cpu", "memory", "pids"}))])
    # A kernel takes one word at a time; a plain file keeps the last.
    assert (root / "cgroup.subtree_control").read_text() == "+pids"
    assert (group / "cgroup.subtree_control").read_text() == "+pids"


def test_controllers_that_do_not_arrive_are_said(tmp_path: Path) -> None:
    root = unified(tmp_path, "cpu memory pids")
    unified(tmp_path / "itbc-run.shop", "pids")
    with pytest.raises(EmbeddedError, match="doesn't hand cpu, memory down") as caught:
        cgroups.create("itbc-run.shop", [Hierarchy(root, 2, frozenset({"cpu", "memory", "pids"}))])
    assert "In a container" in caught.value.remedy


def test_a_hierarchy_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(EmbeddedError, match="can't be made"):
        cgroups.create("itbc-run.shop", [Hierarchy(blocked, 1, frozenset({"memory"}))])


def test_members_are_found_in_all_groups(tmp_path: Path) -> None:
    found = [Hierarchy(tmp_path, 1, frozenset({"memory"}))]
    (system,) = cgroups.create("itbc-run.shop", found)
    (system / "cgroup.procs").write_text("1\n")
    assert [process.pid for process in cgroups.members("itbc-run.shop", found)] == [1]
    assert cgroups.members("itbc-run.other", found) == []
