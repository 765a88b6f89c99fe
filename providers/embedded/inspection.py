"""What this machine has and lacks for embedded clusters. Nothing is started, made or changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from itbc.providers.cgroups import hierarchies
from itbc.providers.embedded import cgroups, kernel, network, tools
from itbc.providers.embedded.errors import EmbeddedError
from itbc.providers.embedded.spec import RANGE_SETTING, address_range
from itbc.providers.services import Finding
from itbc.stacks.toolchain import ToolchainError, node_program, node_program_is_built
from itbc.stacks.toolchain.debian import PACKAGES

_GIB = 1 << 30
_MEMORY = 2.0
_DISK = 3.0
_BUILD_DISK = 6.0
_PROGRAM_SETTING = "ITBC_NODE_PROGRAM"

_UTILITIES = ("unshare", "nsenter", "pivot_root")
_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_CHROOT": 18, "CAP_SYS_ADMIN": 21}

_UNFIT_FILE_SYSTEMS = frozenset({"overlay", "nfs", "nfs4", "9p", "fuse.sshfs", "vfat"})
"""On these no container's layers can be stacked."""


def preflight(environ: Mapping[str, str] = os.environ) -> list[Finding]:
    """Check everything that bringing a cluster up needs, in an order that makes sense to mend things in."""
    return [
        *_rights(),
        *_programs(),
        *_kernel(),
        *_cgroups(),
        *_network(environ),
        *_room(environ),
        *_node_program(environ),
    ]


def home(environ: Mapping[str, str]) -> Path:
    """Where runs are kept."""
    return Path(environ.get("ITBC_HOME") or "/var/lib/itbc").absolute()


def cache(environ: Mapping[str, str]) -> Path:
    """Where builds are kept."""
    return Path(environ.get("ITBC_CACHE") or "/var/cache/itbc").absolute()


def _rights() -> Iterator[Finding]:
    if os.geteuid() != 0:
        yield Finding(
            "root",
            "missing",
            "a cluster's namespaces, links and cgroups can be made by root only",
            "run itbc as root (sudo), on a machine or in a virtual machine of your own",
        )
        return
    yield Finding("root", "ok", "running as root")
    effective = int(_status("CapEff") or "0", 16)
    lacking = [name for name, bit in _CAPABILITIES.items() if not effective >> bit & 1]
    if lacking:
        yield Finding(
            "capabilities",
            "missing",
            f"this root lacks {', '.join(lacking)}",
            "in a container: start it with --privileged, or use a machine of your own",
        )
    else:
        yield Finding("capabilities", "ok", "all that are needed")


def _status(field: str) -> str:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return value.strip()
    return ""


def _programs() -> Iterator[Finding]:
    for package in PACKAGES:
        lacking = [program for program in package.programs if not _there(program)]
        if lacking:
            yield Finding(
                package.name,
                "missing",
                f"no {', '.join(lacking)}",
                f"apt-get install --no-install-recommends {package.name}",
            )
        else:
            yield Finding(package.name, "ok", ", ".join(package.programs))
    lacking = [program for program in _UTILITIES if tools.find(program) is None]
    if lacking:
        yield Finding("util-linux", "missing", f"no {', '.join(lacking)}", "apt-get install util-linux mount")
    else:
        yield Finding("util-linux", "ok", ", ".join(_UTILITIES))


def _there(program: str) -> bool:
    if not program.startswith("/"):
        return tools.find(program) is not None
    # Other distributions keep the pod network's plug-ins elsewhere.
    return any(Path(folder, Path(program).name).exists() for folder in (Path(program).parent, *network.CNI_FOLDERS))


def _kernel() -> Iterator[Finding]:
    here = kernel.inspect()
    answers = {feature: here.has(feature) for feature in kernel.FEATURES}
    for feature, answer in answers.items():
        option = f"CONFIG_{feature.option}"
        if answer == "no":
            yield Finding(
                option, "missing", f"this kernel lacks {feature.purpose}", f"use a kernel with {option} (any stock one)"
            )
        elif answer == "unknown":
            yield Finding(option, "warning", f"can't tell whether this kernel has {feature.purpose}")
    for feature in kernel.OPTIONAL:
        if here.has(feature) == "no":
            option = f"CONFIG_{feature.option}"
            yield Finding(
                option,
                "warning",
                f"this kernel lacks {feature.purpose}, which some scenarios need",
                f"use a kernel with {option} (any stock one)",
            )
    if set(answers.values()) == {"yes"}:
        yield Finding("kernel", "ok", f"{os.uname().release} has all that is needed")


def _cgroups() -> Iterator[Finding]:
    found = hierarchies()
    lacking = cgroups.missing_controllers(found)
    versions = " and ".join(str(version) for version in sorted({each.version for each in found})) or "none"
    if lacking:
        yield Finding(
            "cgroups",
            "missing",
            f"no hierarchy has {', '.join(lacking)} (mounted: version {versions})",
            "mount the cgroup file systems; boot without cgroup_disable=",
        )
        return
    closed = [str(each.path) for each in found if not os.access(each.path, os.W_OK)]
    if closed:
        yield Finding(
            "cgroups", "missing", f"not writable: {', '.join(closed)}", "in a container: start it with --privileged"
        )
    else:
        yield Finding("cgroups", "ok", f"version {versions}")


def _network(environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        pool = address_range(environ)
        conflicts = network.conflicts(pool, network.routes())
    except EmbeddedError as wrong:
        yield Finding("addresses", "missing", str(wrong), wrong.remedy)
        return
    if conflicts:
        yield Finding(
            "addresses",
            "missing",
            f"the clusters' range {pool} is in use: {', '.join(conflicts)}",
            f"set {RANGE_SETTING} to a private range that isn't in use",
        )
    else:
        yield Finding("addresses", "ok", f"{pool} is free for up to {network.capacity(pool)} clusters")


def _room(environ: Mapping[str, str]) -> Iterator[Finding]:
    available = _memory_available()
    if available < _MEMORY:
        yield Finding(
            "memory",
            "warning",
            f"{available:.1f} GiB are available; a cluster with a workload takes about 1, and 2 are comfortable",
            "end other programs, or use a larger machine",
        )
    else:
        yield Finding("memory", "ok", f"{available:.1f} GiB available")
    place = _existing(home(environ))
    free = shutil.disk_usage(place).free / _GIB
    if free < _DISK:
        yield Finding(
            "disk",
            "missing",
            f"{free:.1f} GiB are free at {place}, {_DISK:g} are needed",
            "free some, or set ITBC_HOME",
        )
    else:
        yield Finding("disk", "ok", f"{free:.0f} GiB free at {place}")
    kind = _file_system(place)
    if kind in _UNFIT_FILE_SYSTEMS:
        yield Finding(
            "file system",
            "missing",
            f"{place} is on {kind}, on which containers' file systems can't be stacked",
            "set ITBC_HOME to a folder on ext4, xfs or btrfs (in a container: on a volume)",
        )
    else:
        yield Finding("file system", "ok", f"{kind} at {place}")


def _memory_available() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024 / _GIB
    return 0.0


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _file_system(path: Path) -> str:
    best, kind = "", "unknown"
    for line in Path("/proc/self/mounts").read_text().splitlines():
        place, found = line.split()[1:3]
        if path.is_relative_to(place) and len(place) >= len(best):
            best, kind = place, found
    return kind


def _node_program(environ: Mapping[str, str]) -> Iterator[Finding]:
    name = "Kubernetes program"
    if environ.get(_PROGRAM_SETTING):
        try:
            # With the setting this only looks at the program that is named.
            yield Finding(name, "ok", f"{node_program(cache(environ), lambda _line: None, environ)}")
        except ToolchainError as wrong:
            yield Finding(name, "missing", wrong.message, wrong.remedy)
        return
    folder = cache(environ)
    if node_program_is_built(folder):
        yield Finding(name, "ok", f"built, in {folder}")
        return
    free = shutil.disk_usage(_existing(folder)).free / _GIB
    if free < _BUILD_DISK:
        yield Finding(
            name,
            "missing",
            f"not built yet, and {free:.1f} GiB free at {_existing(folder)} are too few to build it ({_BUILD_DISK:g})",
            f"free some, set ITBC_CACHE, or set {_PROGRAM_SETTING} to one built elsewhere",
        )
    else:
        yield Finding(
            name,
            "warning",
            "not built yet: that happens once on first use, takes about 10 minutes on two cores and 2.5 GiB of memory",
            f"`make setup` builds it now; or set {_PROGRAM_SETTING} to one built elsewhere",
        )
