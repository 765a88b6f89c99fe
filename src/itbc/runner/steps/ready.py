"""Step 6: open the agent's place of work: credentials, task, answer schema."""

from __future__ import annotations

import importlib.resources
import os
from pathlib import Path
from typing import Any

import yaml

from itbc.contracts.environment import Topology
from itbc.contracts.mask import Mask, MaskKind
from itbc.contracts.shape import Shape, to_json
from itbc.runner.failures import StepFailed
from itbc.runner.sandbox.limits import mount_workspace
from itbc.runner.sandbox.programs import user_of
from itbc.runner.sandbox.workplace import KUBECONFIG, SCHEMA, TASK, TOPOLOGY, Workspace
from itbc.runner.steps.access import Access
from itbc.runner.steps.continuity import all_running
from itbc.runner.steps.identity import ACCOUNT, NAMESPACE, session_secret
from itbc.runner.surroundings import Surroundings

WORKSPACE_KIND = "agent-workspace"
SOURCES = {
    "alerts": "Alertmanager (alerts, API v2)",
    "logs": "VictoriaLogs (logs, LogsQL)",
    "metrics": "Prometheus (metrics, PromQL)",
    "traces": "Jaeger (traces, query API)",
}
"""What the agent is told that a signal's URL leads to."""

TOKEN_MARGIN_SECONDS = 600
"""How much longer than the agent's time its credentials are good for: clocks differ, and requests take time."""


class ReadyInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the clusters and how long the agent will have, in seconds."""

    accesses: list[Access]
    seconds: float


class ReadyOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the agent will work, as which user, and which processes the clusters' programs are (see `continuity`)."""

    workspace: str
    user: int
    programs: dict[str, dict[str, str]] = {}


def ready(step: ReadyInput, around: Surroundings) -> ReadyOutput:
    """Make the workspace. Raises StepFailed."""
    workspace = Workspace(around.run.workspace_root)
    user = user_of(around.run.name)
    around.ledger.intent(WORKSPACE_KIND, around.run.name, {"path": str(workspace.root)})
    workspace.root.mkdir(mode=0o711)
    try:
        mount_workspace(workspace.root)
    except OSError as wrong:
        raise StepFailed("environment", str(wrong), "run as root on a machine that allows mounts") from wrong
    for folder in (workspace.work, workspace.home, workspace.programs):
        folder.mkdir(mode=0o755)
    (workspace.programs / "kubectl").touch(mode=0o755)
    _write_credentials(step, around, workspace)
    files = {TASK: task_text(step, around), SCHEMA: answer_schema()}
    if not _masked(around, "topology"):
        files[TOPOLOGY] = shown_topology(around)
    for name, text in files.items():
        (workspace.work / name).write_text(text)
    _hand_over(workspace, user)
    around.ledger.created(WORKSPACE_KIND, around.run.name)
    return ReadyOutput(workspace=str(workspace.root), user=user, programs=all_running(step.accesses, around))


def _masked(around: Surroundings, kind: MaskKind) -> bool:
    """Whether something is masked as a whole in some cluster."""
    return any(Mask(kind) in around.masks(each) for each in around.environment.clusters)


def shown_topology(around: Surroundings) -> str:
    """What the agent is told about the applications, as JSON."""
    return to_json(Topology(components=around.environment.task.topology)).decode()


def _write_credentials(step: ReadyInput, around: Surroundings, workspace: Workspace) -> None:
    """One kubeconfig for all clusters, and one for each whose current context is that cluster."""
    lifetime = int(step.seconds) + TOKEN_MARGIN_SECONDS
    configurations: list[dict[str, Any]] = []
    for access in step.accesses:
        with around.cluster(access.cluster, access.kubeconfig) as client:
            token = client.token(ACCOUNT, NAMESPACE, lifetime, client.apply(session_secret()))
        namespaces = [each.namespace for each in around.environment.task.grants if each.cluster == access.cluster]
        configurations.append(kubeconfig(access, token, namespaces[0] if namespaces else NAMESPACE))
    (workspace.work / ".kube").mkdir(mode=0o700)
    for access, configuration in zip(step.accesses, configurations, strict=True):
        _write_secret(workspace.kubeconfig_of(access.cluster), configuration)
    merged = configurations[0] if configurations else {}
    for other in configurations[1:]:
        for part in ("clusters", "users", "contexts"):
            merged[part] = [*merged[part], *other[part]]
    _write_secret(workspace.work / KUBECONFIG, merged)


def kubeconfig(access: Access, token: str, namespace: str) -> dict[str, Any]:
    """The agent's kubeconfig for a cluster. Raises StepFailed when the administrator's can't be read."""
    try:
        admin = yaml.safe_load(Path(access.kubeconfig).read_text())
        cluster = dict(admin["clusters"][0]["cluster"])
    except (OSError, yaml.YAMLError, KeyError, IndexError, TypeError) as wrong:
        raise StepFailed("environment", f"can't read the kubeconfig of cluster {access.cluster}: {wrong}") from wrong
    if "certificate-authority" in cluster:
        raise StepFailed("itbc", f"the kubeconfig of cluster {access.cluster} doesn't hold its CA, but names a file")
    name = access.cluster
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": f"{ACCOUNT}@{name}", "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": f"{ACCOUNT}@{name}", "namespace": namespace}}],
        "current-context": name,
    }


def _write_secret(path: Path, configuration: dict[str, Any]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        yaml.safe_dump(configuration, file, sort_keys=True)


def _hand_over(workspace: Workspace, user: int) -> None:
    """Make the working folder and the home the agent's own."""
    for folder in (workspace.work, workspace.home):
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
        folder.chmod(0o700)


def answer_schema() -> str:
    """The JSON Schema of an answer, as committed."""
    return importlib.resources.files("itbc.contracts").joinpath("schema/answer.schema.json").read_text()


def task_text(step: ReadyInput, around: Surroundings) -> str:
    """What the agent is told."""
    task = around.environment.task
    lines = ["# Task", "", task.goal, "", f"You have {step.seconds / 60:.0f} minutes.", "", "## What you have", ""]
    for access in step.accesses:
        spaces = ", ".join(sorted({each.namespace for each in task.grants if each.cluster == access.cluster}))
        lines.append(
            f"- Cluster `{access.cluster}`, namespace {spaces or 'none'}: `kubectl` works (KUBECONFIG is set)."
        )
        lines += [f"- {SOURCES[signal]} of `{access.cluster}`: {url}" for signal, url in sorted(access.signals.items())]
    if not _masked(around, "topology"):
        lines.append(f"- `{TOPOLOGY}`: the components, the objects they are made of, and what calls what.")
    lines += [
        "",
        "## What to hand in",
        "",
        "Make it work again, then write your diagnosis to `answer.json` in this folder (the path is also in",
        "ITBC_ANSWER) and end with exit code 0. Its JSON Schema is `answer.schema.json`. Name every root cause and",
        "nothing else: whatever you blame wrongly costs.",
        "",
        '    {"root_causes": [{"kind": "Deployment", "name": "NAME", "namespace": "NAMESPACE"}], "explanation": "…"}',
        "",
    ]
    return "\n".join(lines)
