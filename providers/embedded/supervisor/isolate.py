"""Give the node a root of its own, in which nothing of this machine but its programs can be seen.

Everything here happens in the node host's own mount namespace and ends with
it. No pod, however it mounts the node's folders, finds a run folder, a home
directory or a scenario behind them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from itbc.providers.embedded.supervisor import mounts
from itbc.providers.embedded.supervisor.plan import Plan

PROGRAMS = "opt/kubernetes"
_CNI = "opt/cni/bin"
_PROGRAM_FOLDERS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")


def new_root(state: Path, plan: Plan) -> None:
    """Build the root in `state/root` and move into it."""
    mounts.mount("", "/", flags=mounts.REC | mounts.PRIVATE)
    root = state / "root"
    mounts.mount("node", str(root), "tmpfs", mounts.NOSUID, "mode=0755,size=64m")
    _programs(root, plan)
    for name in ("etc", "var", "tmp"):
        _folder(root, name)
        mounts.bind(str(state / "node" / name), str(root / name))
    alternatives = Path("/etc/alternatives")
    if alternatives.is_dir():
        # Debian's iptables and others are links into this folder.
        mounts.bind(str(alternatives), str(_folder(root, "etc/alternatives")), readonly=True)
    mounts.mount("run", str(_folder(root, "run")), "tmpfs", mounts.NOSUID | mounts.NODEV, "mode=0755")
    _folder(root, "run/lock")
    _link(root / "var" / "run", "../run")
    _kernel(root, plan)
    for name in ("root", "home", "mnt", "srv"):
        _folder(root, name)
    os.chdir(root)
    # Both names the same: the old root comes to lie over the new one, and is taken away from there.
    subprocess.run(("pivot_root", ".", "."), check=True, stdin=subprocess.DEVNULL)
    mounts.detach(".")
    os.chdir("/")
    # As on any node: what the kubelet mounts must reach the containers' namespaces.
    mounts.mount("", "/", flags=mounts.REC | mounts.SHARED)


def _programs(root: Path, plan: Plan) -> None:
    for name in _PROGRAM_FOLDERS:
        here = Path("/", name)
        if here.is_symlink():
            _link(root / name, str(here.readlink()))
        elif here.is_dir():
            mounts.bind(str(here), str(_folder(root, name)), readonly=True)
    mounts.bind(plan.cni_programs, str(_folder(root, _CNI)), readonly=True)
    folder = _folder(root, PROGRAMS)
    program = folder / "node"
    program.touch()
    mounts.bind(plan.program, str(program), readonly=True)
    for name in plan.program_names:
        _link(folder / name, "node")


def _kernel(root: Path, plan: Plan) -> None:
    closed = mounts.NOSUID | mounts.NODEV | mounts.NOEXEC
    mounts.mount("proc", str(_folder(root, "proc")), "proc", closed)
    # The kubelet insists on writing settings of the whole machine. It may: to files that stand there instead.
    for name, value in sorted(plan.masks.items()):
        mask = _folder(root, "run/itbc/sysctl") / name.replace("/", ".")
        mask.write_text(f"{value}\n")
        mounts.bind(str(mask), str(root / "proc/sys" / name))
    # Mounted afresh it shows the node's own network links, not this machine's.
    mounts.mount("sysfs", str(_folder(root, "sys")), "sysfs", closed)
    mounts.bind("/sys/fs/cgroup", str(root / "sys/fs/cgroup"), recursive=True)
    mounts.bind("/dev", str(_folder(root, "dev")), recursive=True)
    mounts.mount("shm", str(root / "dev/shm"), "tmpfs", mounts.NOSUID | mounts.NODEV, "mode=1777,size=64m")


def _folder(root: Path, name: str) -> Path:
    path = root / name
    path.mkdir(mode=0o755, parents=True, exist_ok=True)
    return path


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
