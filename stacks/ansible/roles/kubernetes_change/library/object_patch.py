# ruff: noqa: INP001 - Ansible loads modules by file; this folder is no package
"""Ansible module: apply a JSON patch to a Kubernetes object and leave its field managers as they are."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.exceptions import CoreException
from kubernetes.dynamic.exceptions import DynamicApiError, ResourceNotFoundError
from urllib3.exceptions import HTTPError

DOCUMENTATION = """
module: object_patch
short_description: Apply a JSON patch to a Kubernetes object
description:
  - As M(kubernetes.core.k8s_json_patch), which leaves the changed fields marked with a manager of their own.
options:
  kubeconfig: {type: path, required: true, description: Access to the cluster.}
  api_version: {type: str, required: true, description: API version of the object.}
  kind: {type: str, required: true, description: Kind of the object.}
  namespace: {type: str, required: true, description: Namespace of the object.}
  name: {type: str, required: true, description: Name of the object.}
  patch: {type: list, elements: dict, required: true, description: The patch (RFC 6902).}
  field_manager: {type: str, required: true, description: In whose name to write.}
  managed_fields: {type: list, elements: dict, required: true, description: What C(metadata.managedFields) is to be.}
author: itbc
"""


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "kubeconfig": {"type": "path", "required": True},
            "api_version": {"type": "str", "required": True},
            "kind": {"type": "str", "required": True},
            "namespace": {"type": "str", "required": True},
            "name": {"type": "str", "required": True},
            "patch": {"type": "list", "elements": "dict", "required": True},
            "field_manager": {"type": "str", "required": True},
            "managed_fields": {"type": "list", "elements": "dict", "required": True},
        }
    )
    given = module.params
    kind, namespace, name = given["kind"], given["namespace"], given["name"]
    write = {
        "name": name,
        "namespace": namespace,
        "content_type": "application/json-patch+json",
        "field_manager": given["field_manager"],
    }
    try:
        client = get_api_client(kubeconfig=given["kubeconfig"])
        resource = client.resource(kind, given["api_version"])
        before = client.get(resource, name=name, namespace=namespace).metadata.resourceVersion
        after = client.patch(resource, given["patch"], **write).metadata.resourceVersion
        if given["managed_fields"] and after != before:
            # The server books changed fields on an entry of their own, whoever writes; a second write takes that back.
            fields = [{"op": "add", "path": "/metadata/managedFields", "value": given["managed_fields"]}]
            client.patch(resource, fields, **write)
    except (CoreException, DynamicApiError, ResourceNotFoundError, HTTPError) as wrong:
        module.fail_json(msg=f"can't change {kind} {namespace}/{name}: {wrong}")
    else:
        module.exit_json(changed=before != after)


if __name__ == "__main__":
    main()
