"""The tools over MCP: a real client, the real server, a real sandbox; only the cluster isn't one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp_client import connected, said, settings_in

from itbc.contracts.shape import read
from itbc.contracts.trajectory import Trajectory
from itbc.runner.agents.mcp import SETTINGS, Mcp
from itbc.runner.failures import Interrupted
from itbc.runner.leftovers.ledger import FileLedger
from itbc.runner.mcp import place as places
from itbc.runner.processes import own_identity
from itbc.runner.sandbox.answers import parse_answer
from itbc.runner.sandbox.programs import OutOfTime, Sandbox, user_of
from itbc.runner.sandbox.view import Needs, view
from itbc.runner.sandbox.workplace import Workplace, Workspace
from itbc.runner.waiting import Patience

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces and other users need root")

RUN = "20261201-101500-ab12"
KUBECTL = """#!/bin/sh
case "$1" in
  fail) echo "no such thing" >&2; exit 3 ;;
  hang) sleep 60 ;;
  flood) yes | head -c 300000 ;;
  stdin) cat ;;
  who) id -u; cat /proc/1/environ ;;
  *) echo "kubectl: $*" ;;
esac
"""


class Working:
    """An agent that comes by MCP, at work in a thread of its own."""

    def __init__(self, folder: Path, seconds: float) -> None:
        workspace = Workspace(folder / "agent")
        for each in (workspace.work, workspace.home, workspace.programs, folder / "out"):
            each.mkdir(parents=True)
        os.chown(workspace.work, user_of(RUN), user_of(RUN))
        (workspace.work / "task.md").write_text("# Task\n\nRepair it.\n")
        kubectl = workspace.programs / "kubectl"
        kubectl.write_text(KUBECTL)
        kubectl.chmod(0o755)
        self.stop = threading.Event()
        patience = Patience(self.stop)
        sandbox = Sandbox(
            run=RUN,
            user=user_of(RUN),
            folder=workspace.work,
            environment={"PATH": f"{workspace.programs}:/usr/bin:/bin", "SECRET": "no"},
            view=view(Needs([workspace.root])),
            ledger=FileLedger(folder / "ledger.jsonl", own_identity(), "2030-01-01T00:00:00+00:00"),
        )
        now = patience.monotonic()
        self.told: list[str] = []
        self.place = Workplace(
            workspace, sandbox, patience, now, now + seconds, folder / "out", folder, self.told.append
        )
        self.outcome: int | BaseException | None = None
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        self.url, self.headers = settings_in(folder, SETTINGS)

    def _work(self) -> None:
        try:
            self.outcome = Mcp().work(self.place)
        except (OutOfTime, Interrupted) as ended:
            self.outcome = ended

    def end(self) -> int | BaseException | None:
        """How it ended; it has to within seconds."""
        self._thread.join(20)
        assert not self._thread.is_alive()
        return self.outcome

    def commands(self) -> list[list[str]]:
        return [each.command for each in read(self.place.output / "trajectory.json", Trajectory).commands]


@pytest.fixture
def working(tmp_path: Path) -> Generator[Working]:
    made = Working(tmp_path, 60)
    yield made
    made.stop.set()
    made.end()


def test_tools_are_described_and_those_without_a_source_are_not_offered(working: Working) -> None:
    async def listed(client: Client) -> dict[str, Any]:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = connected(working.url, working.headers, listed)
    # Nothing is collected here, and there is no topology.
    assert set(tools) == {"task", "events", "kubectl", "submit"}
    assert all(tool.description for tool in tools.values())
    schema = tools["kubectl"].input_schema
    assert schema["required"] == ["arguments"]
    assert schema["properties"]["arguments"] == {"items": {"type": "string"}, "title": "Arguments", "type": "array"}


def test_kubectl_runs_as_the_agent_and_says_how_it_ended(working: Working) -> None:
    async def work(client: Client) -> list[tuple[bool, str]]:
        return [
            await said(client, "task"),
            await said(client, "kubectl", arguments=["get", "pods", "; id"]),
            await said(client, "kubectl", arguments=["fail"]),
            await said(client, "kubectl", arguments=["stdin"], stdin="kind: Pod\n"),
            await said(client, "kubectl", arguments=["who"]),
            await said(client, "kubectl", arguments=["flood"]),
        ]

    task, plain, failed, fed, who, flood = connected(working.url, working.headers, work)
    assert task == (True, "# Task\n\nRepair it.\n")
    # One word stays one word: there is no shell that takes it apart.
    assert plain == (True, "kubectl: get pods ; id\n")
    assert failed == (True, "no such thing\n(exit code 3)")
    assert fed == (True, "kind: Pod\n")
    assert who[1].splitlines()[0] == str(user_of(RUN))
    assert "SECRET" not in who[1]
    assert len(flood[1]) < places.LONGEST + 100
    assert "240000 characters are left out" in flood[1]
    assert [command[-1] for command in working.commands()] == ["; id", "fail", "stdin", "who", "flood"]


def test_what_is_wrong_is_said_and_ends_nothing(working: Working) -> None:
    async def work(client: Client) -> list[tuple[bool, str]]:
        return [
            await said(client, "kubectl", arguments="get pods"),
            await said(client, "kubectl", arguments=["hang"], seconds=0.5),
            await said(client, "kubectl", arguments=["get"], seconds=1e9),
            await said(client, "kubectl", arguments=["a\0b"]),
            await said(client, "submit", root_causes=[{"kind": "Deployment"}]),
            await said(client, "no-such-tool"),
            await said(client, "kubectl", arguments=["still", "there"]),
        ]

    *wrong, right = connected(working.url, working.headers, work)
    assert [went_well for went_well, _ in wrong] == [False] * len(wrong)
    assert "ended after 0.5 s" in wrong[1][1]
    assert right == (True, "kubectl: still there\n")


def test_many_calls_at_once_are_all_done_and_all_written_down(working: Working) -> None:
    async def work(client: Client) -> list[tuple[bool, str]]:
        return list(
            await asyncio.gather(*(said(client, "kubectl", arguments=["number", str(each)]) for each in range(12)))
        )

    found = connected(working.url, working.headers, work)
    assert sorted(found) == sorted((True, f"kubectl: number {each}\n") for each in range(12))
    assert sorted(int(command[-1]) for command in working.commands()) == list(range(12))


def test_the_answer_ends_the_work_and_is_what_an_answer_is(working: Working) -> None:
    async def work(client: Client) -> tuple[bool, str]:
        cause = {"kind": "Deployment", "name": "checkout", "namespace": "shop"}
        return await said(client, "submit", root_causes=[cause], explanation="port 9999")

    assert connected(working.url, working.headers, work) == (True, "It is handed in.")
    assert working.end() == 0
    answer, problem = parse_answer(working.place.workspace.answer.read_bytes())
    assert problem == ""
    assert answer is not None
    assert [(each.kind, each.name, each.namespace) for each in answer.root_causes] == [
        ("Deployment", "checkout", "shop")
    ]
    assert working.commands() == [["submit"]]
    # The token is worth nothing any more, so it doesn't lie about.
    assert not (working.place.run / SETTINGS).exists()
    with pytest.raises(httpx.ConnectError):
        httpx.get(working.url, trust_env=False)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": ""}, 401),
        # With the token, but as a page in somebody's browser would come.
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
    ],
)
def test_who_has_no_token_or_is_a_page_is_refused(working: Working, headers: dict[str, str], status: int) -> None:
    given = headers if status == 401 else {**working.headers, **headers}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepted = {"Accept": "application/json, text/event-stream", **given}
    answer = httpx.post(working.url, json=body, headers=accepted, trust_env=False)
    assert answer.status_code == status


def test_who_never_hands_in_runs_out_of_time(tmp_path: Path) -> None:
    working = Working(tmp_path, 2)

    async def hang(client: Client) -> tuple[bool, str]:
        return await said(client, "kubectl", arguments=["hang"], seconds=50)

    outcome: list[tuple[bool, str]] = []
    # The server may go before it has answered.
    with contextlib.suppress(Exception):
        outcome.append(connected(working.url, working.headers, hang))
    assert not any(went_well for went_well, _ in outcome)
    assert isinstance(working.end(), OutOfTime)


def test_a_wish_to_stop_ends_it(working: Working) -> None:
    working.stop.set()
    assert isinstance(working.end(), Interrupted)


def test_the_user_is_told_where_to_connect_and_not_the_token(working: Working) -> None:
    (line,) = working.told
    assert working.url in line
    assert str(working.place.run / SETTINGS) in line
    token = working.headers["Authorization"].removeprefix("Bearer ")
    assert token not in line
    assert len(token) >= 32
    connected(working.url, working.headers, lambda client: said(client, "kubectl", arguments=["get"]))
    kept = [path for path in working.place.run.rglob("*") if path.is_file() and path.name != SETTINGS]
    assert kept
    assert not any(token in path.read_text() for path in kept)
