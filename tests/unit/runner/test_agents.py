from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from itbc.contracts.environment import Grant, Mutant, Repair
from itbc.contracts.evaluation import Entity, Truth
from itbc.contracts.shape import Origin
from itbc.runner.agents import UnknownAgent, check_mutant, command_of, make_agent
from itbc.runner.sandbox.programs import Ended
from itbc.runner.sandbox.workplace import Script, Workplace
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


def test_mutants_need_no_command_and_have_to_be_there() -> None:
    assert command_of("mutant:half", []) == []
    check_mutant("mutant:half", ["half", "other"])
    check_mutant("noop", [])
    with pytest.raises(UnknownAgent, match="has no mutant:hal: there are mutant:half, mutant:other"):
        check_mutant("mutant:hal", ["half", "other"])
    with pytest.raises(UnknownAgent, match="there are none"):
        check_mutant("mutant:x", [])


PLACE = Origin(file="s.itb", line=1, column=1)
CAUSE = Entity(cluster="c", namespace="a", kind="Deployment", name="x")


def repair(*command: str) -> Repair:
    return Repair(cluster="c", command=list(command), origin=PLACE)


class Notes:
    """A workplace that runs nothing: it notes the commands, and lets those fail that are called `false`."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.answers: list[Any] = []

    def in_cluster(self, cluster: str) -> dict[str, str]:
        return {"KUBECONFIG": cluster}

    def execute(self, command: Sequence[str], *, more: Mapping[str, str]) -> Ended:
        assert more == {"KUBECONFIG": "c"}
        self.commands.append(" ".join(command))
        return Ended(int(command[0] == "false"), b"")

    def hand_in(self, root_causes: Any, explanation: str) -> None:
        self.answers.append((root_causes, explanation))


SCRIPT = Script(
    repairs=[repair("first"), repair("second")],
    mutants=[
        Mutant(name="half", why="only the first", steps=[repair("first")], origin=PLACE),
        Mutant(name="bad", why="stumbles", steps=[repair("false"), repair("never")], origin=PLACE),
    ],
    grants=[],
    truth=Truth(root_causes=[CAUSE], chain=["x"], topology=[]),
)
NAMED = [{"cluster": "c", "namespace": "a", "kind": "Deployment", "name": "x"}]


@pytest.mark.parametrize(
    ("name", "code", "commands", "answers"),
    [
        ("solution", 0, ["first", "second"], [(NAMED, "the scenario's own solution")]),
        ("mutant:half", 0, ["first"], [(NAMED, "only the first")]),
        ("mutant:bad", 1, ["false"], []),
        ("noop", 0, [], []),
    ],
)
def test_what_shipped_agents_do(name: str, code: int, commands: list[str], answers: list[Any]) -> None:
    notes = Notes()
    assert make_agent(name, [], SCRIPT).work(cast("Workplace", notes)) == code
    assert notes.commands == commands
    assert notes.answers == answers


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
