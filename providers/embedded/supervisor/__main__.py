"""Two steps: `launch STATE` becomes the node host's outer end, `run STATE` is the first process inside."""

from __future__ import annotations

import os
import resource
import socket
import sys
from pathlib import Path

from itbc.providers.embedded.supervisor import isolate, loop, network, plan
from itbc.providers.embedded.supervisor.components import ENVIRONMENT, Components

_UNSHARE = ("unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child=SIGKILL", "--")


def launch(state: Path) -> None:
    """Record this process, join the cluster's cgroups, and become `unshare`.

    The record comes first: from then on whoever sweeps finds this process.
    Where the state folder was swept away meanwhile, writing it fails, and that is the end.
    """
    # Only here: the first process inside needs nothing of these.
    from itbc.providers.embedded import cgroups, process  # noqa: PLC0415

    os.umask(0o022)
    me = process.identify(os.getpid())
    if me is None:
        raise RuntimeError("this process isn't in /proc: is that mounted?")
    process.save(state / "host.json", me)
    cgroups.enter(list(plan.read(state / "plan.json").cgroups))
    inner = (sys.executable, "-I", "-m", "itbc.providers.embedded.supervisor", "run", str(state))
    os.execvpe(_UNSHARE[0], [*_UNSHARE, *inner], ENVIRONMENT)  # noqa: S606 - arguments, no shell


def run(state: Path) -> None:
    """Set the node up, start its first programs, and stay."""
    told = plan.read(state / "plan.json")
    listener = socket.socket(socket.AF_UNIX)
    listener.setblocking(False)
    # A relative name: an absolute one may be longer than an address can be.
    os.chdir(state)
    listener.bind("control.sock")
    listener.listen()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    isolate.new_root(state, told)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    socket.sethostname(told.hostname)
    network.set_up(told)
    components = Components("/var/log")
    for each in told.first:
        components.start(each.name, each.command)
    loop.serve(components, listener)


def main() -> None:
    """Do the step that the command line names."""
    step, state = sys.argv[1:]
    {"launch": launch, "run": run}[step](Path(state))


if __name__ == "__main__":
    main()
