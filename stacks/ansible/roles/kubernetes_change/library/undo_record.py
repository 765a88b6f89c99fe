# ruff: noqa: INP001 - Ansible loads modules by file; this folder is no package
"""Ansible module: write down how to undo a change, before the change is made."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: undo_record
short_description: Save Kubernetes objects so that another process can put them back
description:
  - Writes one JSON file (C(itbc.undo/1)) readable by its owner only, and returns when it is on disk.
  - A record that is there already is kept, as what is live by then may be the changed object.
  - An object that will be created is written down without a saved copy.
options:
  path: {type: path, required: true, description: The record.}
  fault: {type: str, required: true, description: Name of the fault.}
  kind: {type: str, required: true, description: Kind of the fault.}
  cluster: {type: str, required: true, description: Name of the cluster.}
  changes: {type: list, elements: dict, required: true, description: The objects that will be changed.}
  live: {type: list, elements: list, required: true, description: For each of them the live object or nothing.}
author: itbc
"""

FALLBACK_MANAGER = "kubectl-edit"
"""In whose name an object without field managers is written: by hand."""

CREATING_MANAGER = "kubectl-create"
"""In whose name an object is created that nobody has written before: by hand too."""

Json = dict[str, Any]


def first_manager(live: Json) -> str:
    """The field manager that wrote the object first, leaving out the cluster's own controllers."""
    fields: list[Json] = (live.get("metadata") or {}).get("managedFields") or []
    writers = [entry for entry in fields if entry.get("manager") and not entry.get("subresource")]
    writers = [entry for entry in writers if not str(entry["manager"]).startswith("kube-")]
    return str(min(writers, key=_written)["manager"]) if writers else FALLBACK_MANAGER


def _written(entry: Json) -> str:
    return str(entry.get("time", ""))


def record(fault: str, kind: str, cluster: str, changes: list[Json], live: list[list[Json]]) -> Json:
    """The undo record.

    Raises ValueError where an object that is to be changed isn't there, or one that is to be created is.
    """
    objects: list[Json] = []
    for change, found in zip(changes, live, strict=True):
        identity = {key: change[key] for key in ("api_version", "kind", "namespace", "name")}
        if change.get("created") is not None:
            if found:
                message = "can't create what is there already: {kind} {namespace}/{name}".format(**identity)
                raise ValueError(message)
            objects.append({**identity, "manager": CREATING_MANAGER, "saved": None})
            continue
        if not found:
            message = "can't break what isn't there: {kind} {namespace}/{name}".format(**identity)
            raise ValueError(message)
        objects.append({**identity, "manager": first_manager(found[0]), "saved": found[0]})
    return {"version": "itbc.undo/1", "fault": fault, "kind": kind, "cluster": cluster, "objects": objects}


def write(path: Path, content: Json) -> None:
    """Write a file, readable by its owner only, so that it is whole and on disk or not there. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2, sort_keys=True)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "fault": {"type": "str", "required": True},
            "kind": {"type": "str", "required": True},
            "cluster": {"type": "str", "required": True},
            "changes": {"type": "list", "elements": "dict", "required": True},
            "live": {"type": "list", "elements": "list", "required": True},
        }
    )
    given = dict(module.params)
    path = Path(given.pop("path"))
    try:
        known = path.exists()
        if not known:
            write(path, record(**given))
    except ValueError as wrong:
        module.fail_json(msg=f"{wrong}; nothing was changed")
    except OSError as wrong:
        module.fail_json(msg=f"can't write the undo record {path}: {wrong.strerror}; nothing was changed")
    else:
        module.exit_json(changed=not known)


if __name__ == "__main__":
    main()
