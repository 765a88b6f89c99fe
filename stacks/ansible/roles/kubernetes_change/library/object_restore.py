# ruff: noqa: INP001 - Ansible loads modules by file; this folder is no package
"""Ansible module: put Kubernetes objects back as an undo record saved them."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.exceptions import CoreException
from kubernetes.dynamic.exceptions import (
    ConflictError,
    DynamicApiError,
    NotFoundError,
    ResourceNotFoundError,
    UnprocessibleEntityError,
)
from urllib3.exceptions import HTTPError

DOCUMENTATION = """
module: object_restore
short_description: Put Kubernetes objects back as an undo record saved them
description:
  - Replaces each live object by its saved copy, or creates it anew where it was deleted. May be run again and again.
  - The record is renamed once all is back. Where there is no record nothing was changed, and nothing is done.
  - Returns C(objects), what was put back.
options:
  kubeconfig: {type: path, required: true, description: Access to the cluster.}
  path: {type: path, required: true, description: The undo record.}
author: itbc
"""

DEADLINE_SECONDS = 60.0
POLL_SECONDS = 0.3
SERVER_KEPT = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "resourceVersion",
    "selfLink",
    "uid",
)
"""Parts of an object's metadata that the API server gives and a copy can't bring back."""
CONTROLLER_KEPT = "deployment.kubernetes.io/revision"
"""An annotation that counts on with every rollout, the undo's own too."""

Json = dict[str, Any]


def definition(saved: Json, live: Json | None) -> Json:
    """What to send: the saved copy, fitted to the live object that it replaces, if there is one."""
    wanted = copy.deepcopy(saved)
    wanted.pop("status", None)
    metadata: Json = wanted["metadata"]
    for key in SERVER_KEPT:
        metadata.pop(key, None)
    if live is None:
        metadata.pop("managedFields", None)
    else:
        metadata["resourceVersion"] = live["metadata"]["resourceVersion"]
    annotations: Json = metadata.get("annotations") or {}
    annotations.pop(CONTROLLER_KEPT, None)
    counted = ((live or {}).get("metadata", {}).get("annotations") or {}).get(CONTROLLER_KEPT)
    if counted is not None:
        annotations[CONTROLLER_KEPT] = counted
    if annotations:
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)
    return wanted


class Cluster:
    """The cluster that objects are put back into."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def restore(self, entry: Json) -> bool:
        """Put one object back; whether anything changed. Raises DynamicApiError, TimeoutError."""
        resource = self.client.resource(entry["kind"], entry["api_version"])
        name, namespace, manager = entry["name"], entry["namespace"], entry["manager"]
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            live = self._live(resource, name, namespace)
            try:
                if live is None:
                    wanted = definition(entry["saved"], None)
                    self.client.create(resource, wanted, namespace=namespace, field_manager=manager)
                    return True
                if not live["metadata"].get("deletionTimestamp"):
                    wanted = definition(entry["saved"], live)
                    write = {"name": name, "namespace": namespace, "field_manager": manager}
                    after = self.client.replace(resource, wanted, **write)
                    changed = bool(after.metadata.resourceVersion != live["metadata"]["resourceVersion"])
                    if changed and wanted["metadata"].get("managedFields"):
                        self._give_fields_back(resource, wanted, write)
                    return changed
            except UnprocessibleEntityError:
                if live is None:
                    raise
                # Another object of the same name, which differs in what can't be changed: only anew will do.
                self.client.delete(resource, name=name, namespace=namespace)
            except ConflictError:
                if time.monotonic() >= deadline:
                    raise
            if time.monotonic() >= deadline:
                message = f"{entry['kind']} {namespace}/{name} is still being deleted after {DEADLINE_SECONDS:g} s"
                raise TimeoutError(message)
            time.sleep(POLL_SECONDS)

    def _give_fields_back(self, resource: Any, wanted: Json, write: Json) -> None:
        """Make the field managers what they were: the replacement itself has become one of them."""
        fields = [{"op": "add", "path": "/metadata/managedFields", "value": wanted["metadata"]["managedFields"]}]
        self.client.patch(resource, fields, content_type="application/json-patch+json", **write)

    def _live(self, resource: Any, name: str, namespace: str) -> Json | None:
        try:
            live: Json = self.client.get(resource, name=name, namespace=namespace).to_dict()
        except NotFoundError:
            return None
        return live


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "kubeconfig": {"type": "path", "required": True},
            "path": {"type": "path", "required": True},
        }
    )
    path = Path(module.params["path"])
    if not path.exists():
        module.exit_json(changed=False, objects=[])
    changed = False
    restored: list[str] = []
    try:
        entries: list[Json] = json.loads(path.read_text("utf-8"))["objects"]
        cluster = Cluster(get_api_client(kubeconfig=module.params["kubeconfig"]))
        # Backwards, so that what was changed last is put back first.
        for entry in reversed(entries):
            changed = cluster.restore(entry) or changed
            restored.append(f"{entry['kind']} {entry['namespace']}/{entry['name']}")
        path.replace(path.with_suffix(".undone.json"))
    except (CoreException, DynamicApiError, ResourceNotFoundError, HTTPError, OSError, ValueError) as wrong:
        module.fail_json(msg=f"can't undo by {path}: {wrong}", objects=restored)
    module.exit_json(changed=changed, objects=restored)


if __name__ == "__main__":
    main()
