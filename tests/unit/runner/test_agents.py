from __future__ import annotations

from pathlib import Path

import pytest

from itbc.contracts.environment import Grant
from itbc.runner.agents import UnknownAgent, command_of
from itbc.runner.agents.recreate import _bare, _everything
from itbc.runner.steps.identity import rights


def test_shipped_agents_need_no_command() -> None:
    assert command_of("noop", []) == []
    with pytest.raises(UnknownAgent, match="takes no arguments"):
        command_of("solution", ["x"])


def test_programs_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert command_of("./agent", ["--flag"]) == [str(program), "--flag"]
    assert command_of("command", ["./agent"]) == [str(program)]
    assert command_of("command", ["python3", "-c", "1"]) == ["python3", "-c", "1"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [("nobody", [], "no agent is called"), ("command", [], "needs a command line"), ("./nowhere", [], "no executable")],
)
def test_others_are_refused(name: str, arguments: list[str], message: str) -> None:
    with pytest.raises(UnknownAgent, match=message):
        command_of(name, arguments)


def grant(namespace: str, *resources: str) -> Grant:
    return Grant(cluster="c", namespace=namespace, api_groups=["apps"], resources=list(resources), verbs=["get"])


def test_rights_are_one_role_a_namespace() -> None:
    objects = rights([grant("a", "deployments"), grant("b", "pods"), grant("a", "pods")])
    kinds = [(each["kind"], each["metadata"]["namespace"]) for each in objects]
    assert kinds == [
        ("ServiceAccount", "default"),
        ("Role", "a"),
        ("RoleBinding", "a"),
        ("Role", "b"),
        ("RoleBinding", "b"),
    ]
    assert [rule["resources"] for rule in objects[1]["rules"]] == [["deployments"], ["pods"]]


def test_the_cheat_takes_everything_once() -> None:
    grants = [grant("a", "deployments", "pods/log"), grant("a", "deployments", "services")]
    assert _everything(grants) == [("c", "a", "deployments"), ("c", "a", "services")]


def test_a_bare_object_can_be_created_again() -> None:
    service = {
        "kind": "Service",
        "metadata": {"name": "s", "uid": "1", "resourceVersion": "2", "labels": {"a": "b"}},
        "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": []},
        "status": {},
    }
    assert _bare(service) == {
        "kind": "Service",
        "metadata": {"name": "s", "labels": {"a": "b"}},
        "spec": {"ports": []},
    }
