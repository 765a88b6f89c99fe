"""The Ansible project: three plays a fault, the role they use, and where they run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml

import itbc.stacks
from itbc.compiler.emit.folder import copy_tree
from itbc.compiler.plan import Break
from itbc.dsl.catalogue import Change, LiveCondition

ROLE = "kubernetes_change"
Phase = Literal["inject", "prove", "undo"]
PHASES: Sequence[Phase] = ("inject", "prove", "undo")
_TITLES: Mapping[Phase, str] = {
    "inject": "Inject {fault} ({kind}) into {cluster}",
    "prove": "Prove that {fault} ({kind}) has taken hold in {cluster}",
    "undo": "Undo {fault} ({kind}) in {cluster}",
}

_INVENTORY = """\
---
all:
  hosts:
    localhost:
      ansible_connection: local
"""

_SETTINGS = """\
[defaults]
gathering = explicit
localhost_warning = False
retry_files_enabled = False
roles_path = roles

[connection]
pipelining = True
"""


def play_name(fault: str, phase: Phase) -> str:
    """The file name of a play."""
    return f"{fault}-{phase}.yml"


def render_project(faults: Sequence[Break]) -> Mapping[str, bytes]:
    """All files below `ansible/`: whole, so that another machine needs only ansible-core and kubernetes.core."""
    files = {"inventory/hosts.yml": _INVENTORY.encode(), "project/ansible.cfg": _SETTINGS.encode()}
    roles = Path(itbc.stacks.__file__).parent / "ansible" / "roles"
    files.update({f"project/roles/{ROLE}/{path}": data for path, data in copy_tree(roles / ROLE).items()})
    for step in faults:
        for phase in PHASES:
            files[f"project/{play_name(step.fault, phase)}"] = _play(step, phase)
    return files


def _play(step: Break, phase: Phase) -> bytes:
    title = _TITLES[phase].format(fault=step.fault, kind=step.kind, cluster=step.cluster)
    variables: dict[str, Any] = {
        "fault": step.fault,
        "fault_kind": step.kind,
        "cluster": step.cluster,
        "within_seconds": step.effect.within_seconds,
    }
    if phase == "inject":
        variables["changes"] = [_change(change) for change in step.changes]
    elif phase == "prove":
        variables["steady_seconds"] = step.effect.steady_seconds
        variables["proof"] = [_condition(condition, step.namespace) for condition in step.effect.proof]
    else:
        variables["recovery"] = [_condition(condition, step.namespace) for condition in step.effect.recovery]
    play = {
        "name": title,
        "hosts": "localhost",
        "gather_facts": False,
        # kubernetes.core keeps what it has found out about an API server in the temporary folder: the run's own one.
        "environment": {"TMPDIR": "{{ undo_dir }}"},
        "vars": _literal(variables),
        "tasks": [
            {"name": title, "ansible.builtin.import_role": {"name": ROLE, "tasks_from": phase}},
        ],
    }
    return b"---\n" + yaml.dump([play], Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000).encode()


def _change(change: Change) -> dict[str, Any]:
    identity = {
        "api_version": change.api_version,
        "kind": change.kind,
        "namespace": change.namespace,
        "name": change.name,
    }
    if change.created is not None:
        return {**identity, "created": change.created}
    return {**identity, "patch": [dict(operation) for operation in change.patch]}


def _condition(condition: LiveCondition, namespace: str) -> dict[str, Any]:
    which = {"name": condition.name} if condition.name else {"labels": dict(sorted(condition.labels.items()))}
    return {
        "api_version": condition.api_version,
        "kind": condition.kind,
        "namespace": condition.namespace or namespace,
        **which,
        "expression": condition.expression,
        "what": condition.what,
    }


class _Unsafe(str):
    """A text that Ansible mustn't take for a template."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes plays; knows `_Unsafe`, and writes equal lists and objects out again instead of linking them."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _unsafe(dumper: yaml.SafeDumper, text: _Unsafe) -> yaml.ScalarNode:
    return dumper.represent_scalar("!unsafe", str(text), style="'")


_Dumper.add_representer(_Unsafe, _unsafe)


def _literal(value: Any) -> Any:
    """A copy in which every text that holds a template's marks is marked as unsafe."""
    match value:
        case Mapping():
            return {str(key): _literal(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_literal(inner) for inner in value]
        case str() if re.search(r"\{[{%#]", value):
            return _Unsafe(value)
        case _:
            return value
