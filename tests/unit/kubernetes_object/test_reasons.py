"""What pods say about why they aren't ready; on a real cluster it is tested end to end."""

from __future__ import annotations

from typing import Any

import pytest

from itbc.providers.kubernetes.reasons import label_selector, pod_problems


def pod(*containers: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {"status": {"phase": "Pending", "containerStatuses": list(containers), **status}}


def waiting(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    return {"name": "shop", "ready": False, "state": {"waiting": {"reason": reason, "message": message}}, **more}


@pytest.mark.parametrize(
    ("state", "problems"),
    [
        (
            pod(waiting("ImagePullBackOff", 'Back-off pulling image "x:1"')),
            ['container shop: ImagePullBackOff: Back-off pulling image "x:1"'],
        ),
        (
            pod(
                waiting(
                    "CrashLoopBackOff",
                    "back-off 10s",
                    lastState={"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
                )
            ),
            ["container shop: CrashLoopBackOff: back-off 10s (exit code 137, OOMKilled)"],
        ),
        (
            pod(
                conditions=[
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "0/1 nodes are available: 1 Insufficient cpu.",
                    }
                ]
            ),
            ["Unschedulable: 0/1 nodes are available: 1 Insufficient cpu."],
        ),
        (
            pod({"name": "shop", "state": {"terminated": {"exitCode": 2, "reason": "Error", "message": "no route\n"}}}),
            ["container shop: ended (exit code 2, Error: no route)"],
        ),
        (
            pod({"name": "shop", "ready": False, "state": {"running": {}}}, phase="Running"),
            ["container shop: running, but not ready"],
        ),
        (
            pod(
                waiting("PodInitializing"),
                initContainerStatuses=[
                    {"name": "wait", "state": {"waiting": {"reason": "CreateContainerConfigError"}}}
                ],
            ),
            ["container wait: CreateContainerConfigError"],
        ),
        (pod(waiting("ContainerCreating")), []),
    ],
)
def test_a_pod_says_what_hinders_it(state: dict[str, Any], problems: list[str]) -> None:
    assert pod_problems(state) == problems


def test_a_selector_goes_into_an_address() -> None:
    expressions = [
        {"key": "tier", "operator": "In", "values": ["a", "b"]},
        {"key": "zone", "operator": "NotIn", "values": ["c"]},
        {"key": "x", "operator": "Exists"},
        {"key": "y", "operator": "DoesNotExist"},
    ]
    selector = {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": expressions}
    assert label_selector(selector) == "a=1,b=2,tier in (a,b),zone notin (c),x,!y"
