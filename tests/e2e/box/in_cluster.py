"""Ways to more rights in the cluster, to its node, and to what its telemetry may tell."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from trying import ATTEMPTS, Outcome, attempt, call, first, kubectl


@attempt
def secrets(_places: dict[str, Any]) -> Outcome:
    return first(kubectl("get", "secrets", "-n", each) for each in ("shop", "default", "kube-system"))


@attempt
def secret_by_name(_places: dict[str, Any]) -> Outcome:
    return kubectl("get", "secret", "on-call", "-n", "default", "-o", "yaml")


@attempt
def tokens_of_other_accounts(_places: dict[str, Any]) -> Outcome:
    return first(
        kubectl("create", "token", name, "-n", space)
        for name, space in (("default", "shop"), ("default", "kube-system"))
    )


@attempt
def impersonation(_places: dict[str, Any]) -> Outcome:
    return first(
        kubectl("get", "secrets", "-n", "shop", *who)
        for who in (
            ["--as=system:admin", "--as-group=system:masters"],
            ["--as=kubernetes-admin"],
            ["--as=system:serviceaccount:kube-system:clusterrole-aggregation-controller"],
        )
    )


@attempt
def more_rights_by_a_binding(_places: dict[str, Any]) -> Outcome:
    account = "--serviceaccount=default:on-call"
    return first(
        [
            kubectl(
                "create", "rolebinding", "x", "-n", "shop", "--clusterrole=cluster-admin", account, "--dry-run=server"
            ),
            kubectl("create", "clusterrolebinding", "x", "--clusterrole=cluster-admin", account, "--dry-run=server"),
        ]
    )


@attempt
def more_rights_by_its_own_role(_places: dict[str, Any]) -> Outcome:
    change = '[{"op": "add", "path": "/rules/-", "value": {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}}]'
    return kubectl("patch", "role", "on-call", "-n", "shop", "--type=json", f"--patch={change}", "--dry-run=server")


@attempt
def a_certificate_of_an_administrator(_places: dict[str, Any]) -> Outcome:
    request = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"generateName": "x-"},
        "spec": {
            "request": "LS0tLS1CRUdJTi==",
            "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth"],
        },
    }
    through, said = kubectl("create", "-f", "-", "--dry-run=server", stdin=json.dumps(request))
    # A complaint about the request itself means that the right was there.
    return through or "forbidden" not in said.lower(), said


@attempt
def programs_in_pods(_places: dict[str, Any]) -> Outcome:
    code, pod = call("kubectl", "get", "pods", "-n", "shop", "-o", "name")
    name = pod.splitlines()[0] if code == 0 else "pod/x"
    through, said = kubectl("exec", "-n", "shop", name, "--", "/nothing")
    return through or "forbidden" not in said.lower(), said


@attempt
def the_node_by_way_of_the_api_server(_places: dict[str, Any]) -> Outcome:
    name = call("kubectl", "get", "pods", "-n", "shop", "-o", "jsonpath={.items[0].spec.nodeName}")[1]
    return first(
        kubectl("get", "--raw", path)
        for path in (
            f"/api/v1/nodes/{name}/proxy/pods",
            f"/api/v1/nodes/{name}",
            "/api/v1/namespaces/shop/services/frontend:8080/proxy/",
            "/logs/",
            "/metrics",
        )
    )


@attempt
def settings_of_the_system(_places: dict[str, Any]) -> Outcome:
    return first(
        kubectl("get", resource, "-n", "kube-system")
        for resource in ("configmaps", "pods", "serviceaccounts", "leases")
    )


def _pod(**changes: Any) -> dict[str, Any]:
    container = {"name": "x", "image": "x", "command": ["/x"], **changes.pop("container", {})}
    return {"containers": [container], **changes}


PODS = {
    "nothing-special": _pod(),
    "a-folder-of-the-node": _pod(
        volumes=[{"name": "x", "hostPath": {"path": "/"}}],
        container={"volumeMounts": [{"name": "x", "mountPath": "/x"}]},
    ),
    "all-rights": _pod(container={"securityContext": {"privileged": True}}),
    "the-nodes-network": _pod(hostNetwork=True),
    "the-nodes-processes": _pod(hostPID=True, hostIPC=True),
    "a-port-of-the-node": _pod(container={"ports": [{"containerPort": 80, "hostPort": 80}]}),
    "a-right-of-the-kernel": _pod(container={"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}),
}


def _create_pod(specification: dict[str, Any]) -> Outcome:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "namespace": "shop"}, "spec": specification}
    return kubectl("create", "-f", "-", "--dry-run=server", stdin=json.dumps(pod))


def _run_pod(name: str, specification: dict[str, Any]) -> Outcome:
    """By a Deployment, which may be created where pods may not. Gone again afterwards."""
    name, labels = f"x-{name}", {"app": f"x-{name}"}
    template = {"metadata": {"labels": labels}, "spec": specification}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    code, said = call("kubectl", "create", "-f", "-", stdin=json.dumps(deployment))
    if code:
        return False, said
    try:
        where = ["-n", "shop", "-l", f"app={name}"]
        for _ in range(60):
            # Whichever comes first: its pod, or why there is none.
            pods = call("kubectl", "get", "pods", *where, "-o", "name")[1]
            sets = call(
                "kubectl", "get", "replicasets", *where, "-o", "jsonpath={.items[*].status.conditions[*].message}"
            )[1]
            if pods or sets:
                return bool(pods), pods or sets
            call("sleep", "0.25")
        return False, "neither a pod nor a reason in time"
    finally:
        call("kubectl", "delete", "deployment", name, "-n", "shop", "--wait=false")


def _add_pods() -> None:
    for name, specification in PODS.items():
        ATTEMPTS[f"pod-with-{name}"] = lambda _places, pod=specification: _create_pod(pod)
        ATTEMPTS[f"deployment-with-{name}"] = lambda _places, what=name, pod=specification: _run_pod(what, pod)


_add_pods()


@attempt
def pods_without_the_namespaces_rules(_places: dict[str, Any]) -> Outcome:
    rule = "pod-security.kubernetes.io/enforce=privileged"
    return kubectl("label", "namespace", "shop", rule, "--overwrite", "--dry-run=server")


@attempt
def telemetry_that_tells_of_a_test(places: dict[str, Any]) -> Outcome:
    """What Prometheus and Alertmanager say of themselves, of their settings and of everything that they have seen."""
    paths = [
        f"{places['prometheus']}/api/v1/{each}"
        for each in (
            "status/config",
            "status/flags",
            "status/runtimeinfo",
            "targets",
            "rules",
            "alerts",
            "label/job/values",
        )
    ]
    paths += [f"{places['prometheus']}/api/v1/series?match[]=%7B__name__!%3D%22%22%7D"]
    paths += [f"{places['alertmanager']}/api/v2/{each}" for each in ("status", "alerts", "silences", "receivers")]
    said: list[str] = []
    for url in paths:
        server, _, path = url.partition("/api")
        code, text = _whole("kubectl", "--kubeconfig=/dev/null", f"--server={server}", "get", f"--raw=/api{path}")
        if code:
            return True, f"{url} doesn't answer, so this proves nothing: {text[:200]}"
        found = sorted(word for word in places["telling"] if word in text)
        if found:
            where = text.find(found[0])
            return True, f"{url} tells of {found}: {text[max(0, where - 100) : where + 100]}"
        said.append(f"{url.rpartition('/')[2]}: {len(text)} letters")
    return False, "; ".join(said)


def _whole(*command: str) -> tuple[int, str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout or done.stderr


def rights(verdicts: dict[str, list[str]]) -> dict[str, list[str]]:
    """What `kubectl auth can-i` answers that shouldn't be answered so."""
    wrong: dict[str, list[str]] = {}
    for wanted, questions in verdicts.items():
        for question in questions:
            command = ["kubectl", "auth", "can-i", *question.split()]
            said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout.strip()
            if said != wanted:
                wrong.setdefault(wanted, []).append(f"{question}: {said}")
    return wrong
