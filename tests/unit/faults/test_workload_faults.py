"""Images, commands, memory and probes: wrong requests, and pods that prove the fault or don't."""

from __future__ import annotations

from typing import Any

import pytest
from fault_scene import WORKLOAD, broken, container_changed, kind_of, pod, proven, request

from itbc.dsl.catalogue import FaultRequest

IMAGE = kind_of("k8s.image.nonexistent")
COMMAND = kind_of("k8s.command.invalid")
MEMORY = kind_of("k8s.resources.insufficient")
PROBE = kind_of("k8s.probe.readiness")
MIB = 2.0**20


def first(manifest: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = manifest["spec"]["template"]["spec"]["containers"][0]
    return container


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("checkout", "checkout:9"),
        ("checkout:1", "checkout:9"),
        ("registry.example:5000/checkout", "registry.example:5000/checkout:9"),
        ("registry.example:5000/shop/checkout:1@sha256:00", "registry.example:5000/shop/checkout:9"),
    ],
)
def test_an_image_gets_another_tag(image: str, expected: str):
    asked = request(IMAGE, container_changed(image=image), tag="9")
    assert first(broken(IMAGE, asked))["image"] == expected


@pytest.mark.parametrize(
    ("tag", "message"), [("1.4.2", "so it exists"), ("a/b", "can't be a tag"), ("-1", "can't be"), ("x" * 129, "can't")]
)
def test_a_tag_has_to_be_one_that_nobody_built(tag: str, message: str):
    (problem,) = IMAGE.problems(request(IMAGE, tag=tag))
    assert problem.parameter == "tag"
    assert message in problem.message
    assert IMAGE.problems(request(IMAGE, tag="1.4.3-rc.1")) == []


@pytest.mark.parametrize(
    ("state", "ready", "expected"),
    [
        ({"waiting": {"reason": "ErrImagePull"}}, False, True),
        ({"waiting": {"reason": "ImagePullBackOff"}}, False, True),
        ({"waiting": {"reason": "ContainerCreating"}}, False, False),
        ({"running": {}}, True, False),
    ],
)
def test_a_pull_that_fails_is_the_proof(state: Any, ready: bool, expected: bool):  # noqa: FBT001
    asked = request(IMAGE, tag="9")
    pods = [pod(broken(IMAGE, asked), ready=ready, state=state), pod(WORKLOAD)]
    assert proven(IMAGE.effect(asked), pods) is expected


@pytest.mark.parametrize(
    ("asked", "parameter", "message"),
    [
        (request(COMMAND), "", "nothing is said"),
        (request(COMMAND, arguments="serve"), "arguments", "already runs this"),
        (request(COMMAND, arguments='serve "x'), "arguments", "quotes"),
        (request(COMMAND, arguments="x", container="web"), "container", "no container `web`"),
    ],
)
def test_a_command_has_to_be_said_and_new(asked: FaultRequest, parameter: str, message: str):
    (problem,) = COMMAND.problems(asked)
    assert problem.parameter == parameter
    assert message in problem.message


def test_a_command_is_written_as_in_a_shell():
    asked = request(COMMAND, command="/bin/serve", arguments="--name 'two words' --x=")
    assert COMMAND.problems(asked) == []
    container = first(broken(COMMAND, asked))
    assert container["command"] == ["/bin/serve"]
    assert container["args"] == ["--name", "two words", "--x="]
    assert [touch.pointer.rpartition("/")[2] for touch in COMMAND.touches(asked)] == ["args", "command"]


@pytest.mark.parametrize(
    ("ready", "restarts", "expected"), [(False, 1, True), (False, 0, False), (True, 1, False), (True, 0, False)]
)
def test_a_crash_loop_is_the_proof(ready: bool, restarts: int, expected: bool):  # noqa: FBT001
    asked = request(COMMAND, command="/bin/none", arguments="a 'b `c'")
    pods = [pod(broken(COMMAND, asked), ready=ready, restarts=restarts), pod(WORKLOAD)]
    assert proven(COMMAND.effect(asked), pods) is expected


def test_restarts_of_what_runs_something_else_prove_nothing():
    asked = request(COMMAND, arguments="serve more")
    other = container_changed(args=["serve", "more", "still"])
    assert not proven(COMMAND.effect(asked), [pod(other, ready=False, restarts=3)])


@pytest.mark.parametrize(
    ("resources", "after"),
    [
        (None, {"limits": {"memory": "24Mi"}}),
        ({}, {"limits": {"memory": "24Mi"}}),
        ({"limits": None}, {"limits": {"memory": "24Mi"}}),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1", "memory": "24Mi"}}),
        ({"limits": {"memory": "64Mi"}}, {"limits": {"memory": "24Mi"}}),
        (
            {"limits": {"memory": "64Mi"}, "requests": {"memory": "0.03Gi", "cpu": "1"}},
            {"limits": {"memory": "24Mi"}, "requests": {"memory": "24Mi", "cpu": "1"}},
        ),
        (
            {"limits": {"memory": "64Mi"}, "requests": {"memory": "16Mi"}},
            {"limits": {"memory": "24Mi"}, "requests": {"memory": "16Mi"}},
        ),
    ],
)
def test_a_limit_is_lowered_and_a_request_with_it(resources: Any, after: Any):
    asked = request(MEMORY, container_changed(resources=resources), memory=24 * MIB)
    assert MEMORY.problems(asked) == []
    assert first(broken(MEMORY, asked))["resources"] == after


@pytest.mark.parametrize("memory", [64 * MIB, 65 * MIB])
def test_a_limit_that_is_no_lower_is_no_fault(memory: float):
    (problem,) = MEMORY.problems(request(MEMORY, memory=memory))
    assert (problem.parameter, problem.help) == ("memory", "give less than `64Mi`")


@pytest.mark.parametrize(
    ("memory", "written"),
    [
        (2.0**30, "1Gi"),
        (24 * MIB, "24Mi"),
        (20_000_000.0, "20M"),
        (25_000_960.0, "24415Ki"),
        (20_000_001.0, "20000001"),
    ],
)
def test_amounts_are_written_as_the_api_server_does(memory: float, written: str):
    asked = request(MEMORY, container_changed(resources=None), memory=memory)
    assert first(broken(MEMORY, asked))["resources"]["limits"]["memory"] == written


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"lastState": {"terminated": {"reason": "OOMKilled"}}}, True),
        ({"state": {"terminated": {"reason": "OOMKilled"}}}, True),
        ({"lastState": {"terminated": {"reason": "Error"}}}, False),
        ({"state": {"running": {}}}, False),
    ],
)
def test_a_kill_for_memory_is_the_proof(status: Any, expected: bool):  # noqa: FBT001
    asked = request(MEMORY, memory=24 * MIB)
    assert proven(MEMORY.effect(asked), [pod(broken(MEMORY, asked), **status)]) is expected
    assert not proven(MEMORY.effect(asked), [pod(WORKLOAD, **status)])


TCP = {"readinessProbe": {"tcpSocket": {"port": 8080}}}


@pytest.mark.parametrize(
    ("asked", "parameter", "message"),
    [
        (request(PROBE), "", "nothing is said"),
        (request(PROBE, path="/readyz"), "path", "already asks"),
        (request(PROBE, port=8080), "port", "already asks"),
        (request(PROBE, container_changed(**TCP), path="/x"), "path", "only connects"),
        (request(PROBE, container_changed(readinessProbe=None), path="/x"), "", "no readiness probe"),
        (request(PROBE, container_changed(readinessProbe={"exec": {"command": ["x"]}}), port=1), "", "no readiness"),
    ],
)
def test_a_probe_has_to_be_there_and_asked_otherwise(asked: FaultRequest, parameter: str, message: str):
    (problem,) = PROBE.problems(asked)
    assert problem.parameter == parameter
    assert message in problem.message


@pytest.mark.parametrize(
    ("manifest", "parameters", "after"),
    [
        (WORKLOAD, {"path": "/x"}, {"httpGet": {"path": "/x", "port": "http"}}),
        (WORKLOAD, {"path": "/x", "port": 9}, {"httpGet": {"path": "/x", "port": 9}}),
        (container_changed(**TCP), {"port": 9}, {"tcpSocket": {"port": 9}}),
        (
            container_changed(readinessProbe={"httpGet": {"port": 80}}),
            {"path": "/x"},
            {"httpGet": {"path": "/x", "port": 80}},
        ),
    ],
)
def test_a_running_pod_that_is_not_ready_is_the_proof(manifest: Any, parameters: Any, after: Any):
    asked = request(PROBE, manifest, **parameters)
    assert PROBE.problems(asked) == []
    changed = broken(PROBE, asked)
    assert first(changed)["readinessProbe"] == after
    running = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    effect = PROBE.effect(asked)
    assert proven(effect, [pod(changed, ready=False, state=running), pod(manifest)])
    assert not proven(effect, [pod(changed, ready=False, state={"waiting": {}}), pod(manifest)])
    assert not proven(effect, [pod(changed, state=running)])
    assert not proven(effect, [pod(manifest, ready=False, state=running)])


def test_a_probe_is_watched_for_longer_than_a_healthy_pod_needs():
    slow = container_changed(readinessProbe={"httpGet": {"port": 80}, "initialDelaySeconds": 5, "periodSeconds": 4})
    assert PROBE.effect(request(PROBE, slow, path="/x")).steady_seconds > 13
