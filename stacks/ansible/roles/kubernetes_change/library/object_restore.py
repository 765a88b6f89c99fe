# ruff: noqa: INP001 - Ansible loads modules by file; this folder is no package
"""Ansible module: put Kubernetes objects back as an undo record saved them."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
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
  - Replaces each live object by its saved copy, or creates it anew where it was deleted; deletes what has no saved
    copy. May be run again and again.
  - Where there is no record nothing was changed, and nothing is done.
  - Pods that a StatefulSet couldn't bring up are deleted, as it waits for them instead of replacing them.
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


def is_stuck(pod: Json, revision: str | None) -> bool:
    """Whether a StatefulSet's pod is of another revision, stays, and isn't ready."""
    metadata = pod["metadata"]
    conditions: list[Json] = pod.get("status", {}).get("conditions") or []
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    other = (metadata.get("labels") or {}).get("controller-revision-hash") != revision
    return other and not ready and not metadata.get("deletionTimestamp")


def _words(entry: Json) -> str:
    return f"{entry['kind']} {entry['namespace']}/{entry['name']}"


class Cluster:
    """The cluster that objects are put back into."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def restore(self, entry: Json) -> bool:
        """Put one object back; whether anything changed. Raises DynamicApiError, TimeoutError."""
        resource = self.client.resource(entry["kind"], entry["api_version"])
        if entry["saved"] is None:
            return self._remove(resource, entry)
        changed = self._put_back(resource, entry)
        if entry["kind"] == "StatefulSet":
            changed = self._release(resource, entry) or changed
        return changed

    def _remove(self, resource: Any, entry: Json) -> bool:
        """Delete an object that wasn't there, and wait until it is gone."""
        name, namespace = entry["name"], entry["namespace"]
        if self._live(resource, name, namespace) is None:
            return False
        self.client.delete(resource, name=name, namespace=namespace)
        self._wait(lambda: self._live(resource, name, namespace) is None, f"{_words(entry)} is still being deleted")
        return True

    def _release(self, resource: Any, entry: Json) -> bool:
        """Delete the pods of other revisions than the present one that aren't ready: the controller waits for them."""
        name, namespace = entry["name"], entry["namespace"]
        seen: Json = {}

        def current() -> bool:
            # Until then the controller may still make pods of the revision that was taken back.
            nonlocal seen
            seen = self._live(resource, name, namespace) or {}
            return bool(seen) and seen.get("status", {}).get("observedGeneration", 0) >= seen["metadata"]["generation"]

        self._wait(current, f"the controller doesn't look at {_words(entry)}")
        pods = self.client.resource("Pod", "v1")
        labels = ",".join(f"{key}={value}" for key, value in seen["spec"]["selector"]["matchLabels"].items())
        stuck = [
            pod["metadata"]["name"]
            for pod in self.client.get(pods, namespace=namespace, label_selector=labels).to_dict()["items"]
            if is_stuck(pod, seen["status"].get("updateRevision"))
        ]
        for pod in stuck:
            self.client.delete(pods, name=pod, namespace=namespace)
        return bool(stuck)

    def _wait(self, holds: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            if time.monotonic() >= deadline:
                message = f"{otherwise} after {DEADLINE_SECONDS:g} s"
                raise TimeoutError(message)
            time.sleep(POLL_SECONDS)

    def _put_back(self, resource: Any, entry: Json) -> bool:
        """Make an object what its saved copy is."""
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
                message = f"{_words(entry)} is still being deleted after {DEADLINE_SECONDS:g} s"
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
            restored.append(_words(entry))
    except (CoreException, DynamicApiError, ResourceNotFoundError, HTTPError, OSError, ValueError) as wrong:
        module.fail_json(msg=f"can't undo by {path}: {wrong}", objects=restored)
    module.exit_json(changed=changed, objects=restored)


if __name__ == "__main__":
    main()
