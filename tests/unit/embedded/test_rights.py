from __future__ import annotations

from typing import Any

from itbc.providers.embedded import components, rights


def rules_of(kind: str, user: str) -> list[dict[str, Any]]:
    (role,) = [body for _, body in rights.node() if body["kind"] == kind and body["metadata"]["name"] == user]
    found: list[dict[str, Any]] = role["rules"]
    return found


def test_the_policy_program_reads_and_notes_what_it_drops() -> None:
    here = rules_of("Role", rights.NETWORK_POLICY_USER)
    assert [(rule["resources"], rule["verbs"]) for rule in here] == [(["configmaps"], ["create", "patch"])]
    rules = rules_of("ClusterRole", rights.NETWORK_POLICY_USER)
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list", "watch"}
    assert {kind for rule in rules for kind in rule["resources"]} == {"namespaces", "networkpolicies", "pods"}


def test_the_delay_program_writes_annotations_in_one_namespace_only() -> None:
    everywhere = rules_of("ClusterRole", rights.NODE_NETWORK_USER)
    assert [(rule["resources"], rule["verbs"]) for rule in everywhere] == [(["pods"], ["list", "watch"])]
    here = rules_of("Role", rights.NODE_NETWORK_USER)
    assert [(rule["resources"], rule["verbs"]) for rule in here] == [(["configmaps"], ["list", "watch", "patch"])]


def test_every_role_is_bound_where_it_is() -> None:
    objects = dict(rights.node())
    assert len(objects) == len(rights.node())
    for path, body in objects.items():
        namespace = body["metadata"].get("namespace")
        assert path.startswith("/apis/rbac.authorization.k8s.io/v1" + (f"/namespaces/{namespace}" if namespace else ""))
        if body["kind"].endswith("Binding"):
            role = path.replace("bindings/", "s/")
            assert objects[role]["kind"] == body["roleRef"]["kind"]
            assert body["subjects"] == [
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": body["roleRef"]["name"]}
            ]


def test_the_programs_are_among_the_nodes_and_use_their_own_identities() -> None:
    commands = {each.name: each.command for each in components.with_rights()}
    assert set(commands) <= set(components.NODE_PROGRAMS)
    assert commands["network-policy"][1:] == ["--kubeconfig=/etc/kubernetes/network-policy.conf"]
    assert commands["edge-delay"][1:] == ["--kubeconfig=/etc/kubernetes/node-network.conf"]
