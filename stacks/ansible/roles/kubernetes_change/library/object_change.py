# ruff: noqa: INP001 - Ansible loads modules by file; this folder is no package
"""Ansible module: make the changes of a fault, and leave field managers as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonpatch
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.exceptions import CoreException
from kubernetes.dynamic.exceptions import DynamicApiError, NotFoundError, ResourceNotFoundError
from urllib3.exceptions import HTTPError

DOCUMENTATION = """
module: object_change
short_description: Change Kubernetes objects that an undo record has saved
description:
  - As M(kubernetes.core.k8s_json_patch), which leaves the changed fields marked with a manager of their own.
  - What has been changed before, by this fault, stays as it is.
options:
  kubeconfig: {type: path, required: true, description: Access to the cluster.}
  record: {type: path, required: true, description: The undo record.}
  changes:
    type: list
    elements: dict
    required: true
    description: >-
      Objects (C(api_version), C(kind), C(namespace), C(name)), each with a C(patch) (RFC 6902), or with the whole
      object that is to be C(created).
author: itbc
"""

Json = dict[str, Any]


class Cluster:
    """The cluster whose objects are changed."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def change(self, change: Json, entry: Json) -> bool:
        """Make one change; `entry` is the object's entry in the undo record. Returns whether there was one to make."""
        resource = self.client.resource(change["kind"], change["api_version"])
        live = self._live(resource, change)
        if change.get("created") is not None:
            if live is not None:
                return False
            write = {"namespace": change["namespace"], "field_manager": entry["manager"]}
            self.client.create(resource, change["created"], **write)
            return True
        if live is not None and is_done(change["patch"], entry["saved"], live):
            return False
        write = {
            "name": change["name"],
            "namespace": change["namespace"],
            "content_type": "application/json-patch+json",
            "field_manager": entry["manager"],
        }
        self.client.patch(resource, change["patch"], **write)
        managed = entry["saved"]["metadata"].get("managedFields")
        if managed:
            # The server books changed fields on an entry of their own, whoever writes; a second write takes that back.
            self.client.patch(resource, [{"op": "add", "path": "/metadata/managedFields", "value": managed}], **write)
        return True

    def _live(self, resource: Any, change: Json) -> Json | None:
        try:
            live: Json = self.client.get(resource, name=change["name"], namespace=change["namespace"]).to_dict()
        except NotFoundError:
            return None
        return live


def is_done(patch: list[Json], saved: Json, live: Json) -> bool:
    """Whether an object is what a patch makes of its saved copy."""
    try:
        wanted: Json = jsonpatch.apply_patch(saved, patch)
    except jsonpatch.JsonPatchException:
        return False
    parts = (set(saved) | set(wanted)) - {"metadata", "status"}
    return wanted != saved and all(wanted.get(part) == live.get(part) for part in parts)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "kubeconfig": {"type": "path", "required": True},
            "record": {"type": "path", "required": True},
            "changes": {"type": "list", "elements": "dict", "required": True},
        }
    )
    given = module.params
    where = "anything"
    changed = False
    try:
        entries = json.loads(Path(given["record"]).read_text("utf-8"))["objects"]
        cluster = Cluster(get_api_client(kubeconfig=given["kubeconfig"]))
        for change, entry in zip(given["changes"], entries, strict=True):
            where = "{kind} {namespace}/{name}".format(**change)
            changed = cluster.change(change, entry) or changed
    except (CoreException, DynamicApiError, ResourceNotFoundError, HTTPError, OSError, ValueError) as wrong:
        module.fail_json(msg=f"can't change {where}: {wrong}", changed=changed)
    else:
        module.exit_json(changed=changed)


if __name__ == "__main__":
    main()
