# ruff: noqa: INP001 - Ansible loads modules by file; this folder is no package
"""Ansible module: wait until conditions on live Kubernetes objects hold, all at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jmespath
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.exceptions import CoreException
from kubernetes.dynamic.exceptions import DynamicApiError, NotFoundError, ResourceNotFoundError
from urllib3.exceptions import HTTPError

DOCUMENTATION = """
module: effect_wait
short_description: Wait until conditions on live Kubernetes objects hold
description:
  - Asks again in one process, so that waiting costs little on a machine that is busy rolling the change out.
options:
  kubeconfig: {type: path, required: true, description: Access to the cluster.}
  conditions:
    type: list
    elements: dict
    required: true
    description: >-
      Objects (C(api_version), C(kind), C(namespace), and C(name) or C(labels)), a JMESPath C(expression) over the list
      of them that must be true, and C(what) that means in words.
  timeout_seconds: {type: float, required: true, description: How long to wait.}
  steady_seconds: {type: float, default: 0, description: For how long the conditions must hold without a gap.}
author: itbc
"""

POLL_SECONDS = 0.3

Json = dict[str, Any]


def objects(client: Any, condition: Json) -> list[Json]:
    """The live objects that a condition is about."""
    resource = client.resource(condition["kind"], condition["api_version"])
    namespace = condition["namespace"]
    if "name" in condition:
        try:
            return [client.get(resource, name=condition["name"], namespace=namespace).to_dict()]
        except NotFoundError:
            return []
    labels = ",".join(f"{key}={value}" for key, value in sorted(condition["labels"].items()))
    found: list[Json] = client.get(resource, namespace=namespace, label_selector=labels).to_dict()["items"]
    return found


def unmet(client: Any, conditions: list[Json]) -> list[str]:
    """What isn't so yet, in words."""
    missing: list[str] = []
    for condition in conditions:
        try:
            if jmespath.search(condition["expression"], objects(client, condition)) is not True:
                missing.append(condition["what"])
        except (CoreException, DynamicApiError, ResourceNotFoundError, HTTPError) as wrong:
            missing.append(f"{condition['what']} (can't tell: {wrong})")
    return missing


def wait(
    look: Callable[[], list[str]],
    seconds: float,
    steady: float,
    monotonic: Callable[[], float],
    sleep: Callable[[float], None],
) -> list[str]:
    """Look until nothing has been missing for a while or the time is up; what was missing at the last look."""
    deadline = monotonic() + seconds
    since: float | None = None
    while True:
        missing = look()
        now = monotonic()
        if missing:
            since = None
            if now >= deadline:
                return missing
        else:
            since = now if since is None else since
            if now - since >= steady:
                return []
        sleep(POLL_SECONDS)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "kubeconfig": {"type": "path", "required": True},
            "conditions": {"type": "list", "elements": "dict", "required": True},
            "timeout_seconds": {"type": "float", "required": True},
            "steady_seconds": {"type": "float", "default": 0.0},
        }
    )
    conditions, seconds = module.params["conditions"], module.params["timeout_seconds"]
    steady = module.params["steady_seconds"]
    started = time.monotonic()
    try:
        client = get_api_client(kubeconfig=module.params["kubeconfig"])
    except CoreException as wrong:
        module.fail_json(msg=str(wrong))
    else:
        missing = wait(lambda: unmet(client, conditions), seconds, steady, time.monotonic, time.sleep)
        if missing:
            module.fail_json(msg=f"not so after {seconds:g} s: {'; '.join(missing)}")
        module.exit_json(changed=False, seconds=round(time.monotonic() - started, 3))


if __name__ == "__main__":
    main()
