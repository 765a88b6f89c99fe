"""Ways to what lies on the machine: files, processes, rights."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
from pathlib import Path
from typing import Any

from trying import Outcome, attempt, call, connect, first, look

PTRACE_ATTACH = 16
PTRACE_DETACH = 17

_libc = ctypes.CDLL(None, use_errno=True)


@attempt
def scenario_folder(places: dict[str, Any]) -> Outcome:
    return look(f"{places['scenario']}/scenario.itb")


@attempt
def history_of_the_checkout(places: dict[str, Any]) -> Outcome:
    return look(f"{places['checkout']}/.git/HEAD", f"{places['checkout']}/README.md")


@attempt
def compiled_artefacts(places: dict[str, Any]) -> Outcome:
    return look(f"{places['home']}/compiled/*/artefacts/evaluation.json", f"{places['home']}/compiled/*/*/*/*.json")


@attempt
def artefacts_of_the_run(places: dict[str, Any]) -> Outcome:
    return look(f"{places['run']}/artefacts/evaluation.json")


@attempt
def journal(places: dict[str, Any]) -> Outcome:
    return look(f"{places['run']}/steps/*-inject.json", f"{places['run']}/record.json")


@attempt
def ledger(places: dict[str, Any]) -> Outcome:
    return look(f"{places['home']}/ledger/*.jsonl")


@attempt
def terraform_state(places: dict[str, Any]) -> Outcome:
    return look(f"{places['run']}/terraform/*/terraform.tfstate")


@attempt
def ansible_undo_records(places: dict[str, Any]) -> Outcome:
    return look(f"{places['run']}/ansible/**/*.json", f"{places['run']}/ansible/**/*.yml")


@attempt
def healthy_objects(places: dict[str, Any]) -> Outcome:
    return look(f"{places['run']}/before.json")


@attempt
def cache_with_healthy_stacks(places: dict[str, Any]) -> Outcome:
    return look(f"{places['cache']}/stacks/**/*.json", f"{places['cache']}/node/*/node")


@attempt
def administrators_kubeconfig(places: dict[str, Any]) -> Outcome:
    return look(f"{places['run']}/clusters/*/admin.kubeconfig")


@attempt
def state_folder_of_the_cluster(places: dict[str, Any]) -> Outcome:
    try:
        return True, ", ".join(sorted(each.name for each in Path(f"{places['run']}/clusters/shop").iterdir()))
    except OSError as wrong:
        return False, str(wrong)


@attempt
def control_socket_of_the_supervisor(places: dict[str, Any]) -> Outcome:
    # Its path is too long for a socket's address, so from its own folder, as itbc does.
    try:
        os.chdir(f"{places['run']}/clusters/shop")
    except OSError as wrong:
        return False, str(wrong)
    return connect(socket.AF_UNIX, "control.sock")


@attempt
def root_of_the_first_process(places: dict[str, Any]) -> Outcome:
    return look(*(f"/proc/{pid}/root{places['scenario']}/scenario.itb" for pid in (places["runner"], 1)))


@attempt
def working_folders_of_processes(places: dict[str, Any]) -> Outcome:
    return look(*(f"/proc/{pid}/cwd/README.md" for pid in (places["runner"], 1)))


@attempt
def environment_of_the_runner(places: dict[str, Any]) -> Outcome:
    said: list[str] = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if places["canary"].encode() in path.read_bytes():
                return True, f"{path} has it"
            said.append(f"{path}: read")
        except OSError as wrong:
            said.append(f"{path}: {wrong.strerror}")
    return False, "; ".join(said)


@attempt
def memory_of_processes(places: dict[str, Any]) -> Outcome:
    return first(_open(f"/proc/{pid}/mem") for pid in (places["runner"], 1))


def _open(path: str) -> Outcome:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as wrong:
        return False, f"{path}: {wrong.strerror}"
    return True, f"{path}: opened"


@attempt
def tracing_the_first_process(_places: dict[str, Any]) -> Outcome:
    if _libc.ptrace(PTRACE_ATTACH, 1, None, None):
        return False, os.strerror(ctypes.get_errno())
    _libc.ptrace(PTRACE_DETACH, 1, None, None)
    return True, "traced"


@attempt
def signals_to_others(places: dict[str, Any]) -> Outcome:
    said: list[str] = []
    for pid in (places["runner"], 1):
        try:
            os.kill(pid, 0)
        except OSError as wrong:
            said.append(f"{pid}: {wrong.strerror}")
        else:
            return True, f"{pid}: taken"
    return False, "; ".join(said)


@attempt
def temporary_files_of_others(places: dict[str, Any]) -> Outcome:
    return look(*places["temporary"])


@attempt
def writing_elsewhere(places: dict[str, Any]) -> Outcome:
    said: list[str] = []
    for path in ("/etc/hosts", "/usr/bin/env", f"{places['workspace']}/bin/kubectl", f"{places['workspace']}/x", "/x"):
        try:
            os.close(os.open(path, os.O_WRONLY | (os.O_CREAT | os.O_EXCL if path.endswith("/x") else 0)))
        except OSError as wrong:
            if wrong.errno != errno.ETXTBSY:
                said.append(f"{path}: {wrong.strerror}")
                continue
        if path.endswith("/x"):
            Path(path).unlink()
        return True, f"{path}: may be written to"
    return False, "; ".join(said)


@attempt
def limits_of_the_cgroup(places: dict[str, Any]) -> Outcome:
    name = f"itbc-{places['name']}-agent"
    said: list[str] = []
    for file in ("memory.limit_in_bytes", "memory.max", "pids.max", "cgroup.procs"):
        for path in (*Path("/sys/fs/cgroup").glob(f"{name}/{file}"), *Path("/sys/fs/cgroup").glob(f"*/{name}/{file}")):
            try:
                os.close(os.open(path, os.O_WRONLY))
            except OSError as wrong:
                said.append(f"{path}: {wrong.strerror}")
            else:
                return True, f"{path}: may be written to"
    return False, "; ".join(said) or f"{name} isn't there, only {list(Path('/sys/fs/cgroup').iterdir())}"


@attempt
def setuid_program(places: dict[str, Any]) -> Outcome:
    # As an administrator it proves nothing, unless somebody else runs it.
    other = [] if os.geteuid() else ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    said = call(*other, places["setuid"])[1]
    return "euid=0(root)" in said, said


@attempt
def mounting(_places: dict[str, Any]) -> Outcome:
    return first(
        (code == 0, said) for code, said in (call("mount", "-t", "tmpfs", "x", "/mnt"), call("umount", "/run"))
    )


@attempt
def uncovering_in_a_namespace_of_its_own(places: dict[str, Any]) -> Outcome:
    """In a user namespace one is root, and yet what was covered before must stay so."""
    script = f"""
        exec 2>&1
        echo "user $(id -u)"
        for each in {places["checkout"]} {places["scenario"]} {places["home"]} {places["cache"]} /root /run /tmp /sys
        do umount -l "$each"; umount -l "$each"; done
        mkdir -p "$HOME/view"; mount --bind / "$HOME/view"; mount --rbind / "$HOME/view"; mount -t proc x "$HOME/view"
        for each in "" "$HOME/view"
        do head -c 40 "$each{places["scenario"]}/scenario.itb" && echo uncovered; done
        mount -t cgroup -o memory x /mnt && echo uncovered
        mount -t cgroup2 x /mnt && ls -d /mnt/*itbc* && echo uncovered
        true
    """
    said = call("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c", script)[1]
    return "uncovered" in said, said


@attempt
def namespaces_of_processes(places: dict[str, Any]) -> Outcome:
    return first(
        (code == 0, said)
        for pid in (places["runner"], 1)
        for code, said in (call("nsenter", f"--target={pid}", flag, "true") for flag in ("--net", "--mount", "--pid"))
    )


@attempt
def secrets_in_the_list_of_mounts(places: dict[str, Any]) -> Outcome:
    """Mounts over what is hidden are listed by name, so their names must tell nothing."""
    text = Path("/proc/self/mountinfo").read_text() + Path("/proc/self/cgroup").read_text()
    found = [word for word in (*places["telling"], places["scenario"]) if word in text]
    return bool(found), f"{len(text.splitlines())} lines, telling: {found}"
