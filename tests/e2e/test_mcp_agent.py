"""A whole run with an agent that comes by MCP: a real client, a real cluster, the answer and the score."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mcp import Client
from mcp_client import connected, said, settings_in
from program import Itbc, at_home

pytestmark = pytest.mark.e2e

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sre" / "checkout-wrong-payment-address"
TOOLS = {
    *("alerts", "events", "kubectl", "metric_names", "query_logs", "query_metrics", "query_metrics_range"),
    *("query_traces", "submit", "task", "topology", "trace_services"),
}


@pytest.fixture
def itbc() -> Generator[Itbc]:
    with at_home() as program:
        yield program


async def repair(client: Client) -> dict[str, Any]:
    """Look at everything there is to look at, try what isn't allowed, repair, hand in."""
    seen: dict[str, Any] = {"tools": {tool.name for tool in (await client.list_tools()).tools}}

    async def call(tool: str, **arguments: Any) -> str:
        went_well, text = await said(client, tool, **arguments)
        assert went_well, (tool, text)
        return text

    seen["task"] = await call("task")
    seen["topology"] = json.loads(await call("topology"))
    seen["alerts"] = json.loads(await call("alerts"))
    failing = 'sum by (service) (rate(http_requests_total{code=~"5.."}[30s])) > 0'
    seen["metrics"] = json.loads(await call("query_metrics", query=failing))
    seen["names"] = json.loads(await call("metric_names", match='{service="checkout"}'))
    seen["logs"] = await call(
        "query_logs", query='_time:5m "kubernetes.container_name":=checkout level:=ERROR', limit=3
    )
    seen["services"] = json.loads(await call("trace_services"))
    found = await call("query_traces", service="checkout", tags='{"http.response.status_code": "502"}', limit=2)
    seen["traces"] = json.loads(found)
    seen["events"] = await call("events")
    seen["wrong query"] = await said(client, "query_metrics", query="sum(")
    for words in (["get", "secrets"], ["get", "nodes"], ["auth", "can-i", "create", "rolebindings"]):
        seen[" ".join(words)] = await call("kubectl", arguments=words)
    seen["before"] = await call("kubectl", arguments=["get", "deployment", "checkout", "-o", "yaml"])
    await call("kubectl", arguments=["set", "env", "deployment/checkout", "PAYMENT_ADDR=payment:8080"])
    rollout = ["rollout", "status", "deployment/checkout", "--timeout=90s"]
    seen["rollout"] = await call("kubectl", arguments=rollout, seconds=100)
    cause = {"kind": "Deployment", "name": "checkout"}
    await call("submit", root_causes=[cause], explanation="it called port 9999")
    return seen


def test_an_agent_that_comes_by_mcp_sees_repairs_and_passes(itbc: Itbc, machine: ModuleType) -> None:
    before = machine.snapshot("nobody-has-this-prefix")
    with itbc.start("run", str(SCENARIO), "--agent", "mcp") as process:
        try:
            url, headers = settings_in(itbc.home, "runs/*/mcp.json")
            seen = connected(url, headers, repair)
        finally:
            output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    run = itbc.run
    assert machine.settled(before, run.name) == []
    assert url in output
    assert headers["Authorization"].split()[1] not in output
    assert not (run / "mcp.json").exists()

    assert seen["tools"] == TOOLS
    assert "can't buy anything" in seen["task"]
    calls = {each["name"]: each["calls"] for each in seen["topology"]["components"]}
    assert calls["checkout"] == ["orders", "payment"]
    assert "HighRequestErrorRate" in {each["labels"]["alertname"] for each in seen["alerts"]}
    assert {"frontend", "checkout"} <= {each["metric"]["service"] for each in seen["metrics"]}
    assert "http_requests_total" in seen["names"]
    assert "payment:9999" in seen["logs"]
    assert "checkout" in seen["services"]
    spans = [span for trace in seen["traces"] for span in trace["spans"]]
    assert {"frontend", "checkout"} <= {span["service"] for span in spans}
    assert seen["wrong query"][0] is False
    assert "parse error" in seen["wrong query"][1]
    assert "forbidden" in seen["get secrets"].lower()
    assert "forbidden" in seen["get nodes"].lower()
    assert seen["auth can-i create rolebindings"].splitlines()[-2:] == ["no", "(exit code 1)"]
    assert "payment:9999" in seen["before"]
    assert "successfully rolled out" in seen["rollout"]
    everything = json.dumps([seen[name] for name in ("task", "topology", "alerts", "events", "before", "logs")])
    assert not re.findall(r"\b(?:fault|inject|wrong-address|chaos|scenario)\w*", everything.lower())

    record = json.loads((run / "record.json").read_text())
    assert (record["agent"], record["state"], record["failure"]) == ("mcp", "done", None)
    assert (record["score"]["passed"], record["score"]["diagnosed"]) == (True, True)
    commands = json.loads((run / "agent" / "trajectory.json").read_text())["commands"]
    names = [each["command"][0] for each in commands]
    assert names[-1] == "submit"
    assert {"alerts", "query_metrics", "query_logs", "query_traces"} <= set(names)
    assert "payment:9999" in (run / "agent" / "stdout").read_text()
