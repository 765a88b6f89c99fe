"""The family `k8s.service.*` against declared Services and against their endpoints."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from fault_scene import Json, broken, kind_of, proven, request

from itbc.dsl.catalogue import FaultRequest
from itbc.providers.faults.objects.example import SERVICE

SELECTOR = kind_of("k8s.service.selector")
TARGET_PORT = kind_of("k8s.service.target-port")


def service(**spec: Any) -> Json:
    manifest = copy.deepcopy(dict(SERVICE))
    manifest["spec"].update(spec)
    return manifest


def part(port: int | None, *, name: str = "http", ready: bool | None = True) -> Json:
    """An EndpointSlice with one endpoint, or with none."""
    return {
        "endpoints": None if ready is None else [{"conditions": {"ready": ready}}],
        "ports": None if port is None else [{"name": name, "port": port}],
    }


@pytest.mark.parametrize(
    ("asked", "parameter", "message"),
    [
        (request(SELECTOR, service(), label="ap", value="x"), "label", "by no label `ap`"),
        (request(SELECTOR, service(), label="app", value="checkout"), "value", "Deployment `checkout` have this label"),
        (request(SELECTOR, service(), label="app", value="check out"), "value", "can't be the value of a label"),
        (request(SELECTOR, service(), label="app", value="x" * 64), "value", "can't be the value of a label"),
        (request(SELECTOR, service(selector=None), label="app", value="x"), "", "selects no pods"),
    ],
)
def test_a_selector_has_to_miss(asked: FaultRequest, parameter: str, message: str):
    (problem,) = SELECTOR.problems(asked)
    assert problem.parameter == parameter
    assert message in problem.message


def test_one_of_several_labels_is_changed():
    asked = request(
        SELECTOR,
        service(selector={"app": "checkout", "app.kubernetes.io/name": "c"}),
        label="app.kubernetes.io/name",
        value="d",
    )
    assert SELECTOR.problems(asked) == []
    assert broken(SELECTOR, asked)["spec"]["selector"] == {"app": "checkout", "app.kubernetes.io/name": "d"}
    assert SELECTOR.touches(asked)[0].pointer == "/spec/selector/app.kubernetes.io~1name"


def test_no_endpoints_are_the_proof():
    effect = SELECTOR.effect(request(SELECTOR, service(), label="app", value="x"))
    assert proven(effect, [part(None, ready=None)])
    assert not proven(effect, [part(None, ready=None), part(8080)])
    assert not proven(effect, [part(8080, ready=False)])


TWO = [{"name": "http", "port": 80, "targetPort": 8080}, {"name": "admin", "port": 81}]


@pytest.mark.parametrize(
    ("asked", "parameter", "message"),
    [
        (request(TARGET_PORT, service(), target_port=8080), "target_port", "already go to this port"),
        (request(TARGET_PORT, service(ports=TWO), target_port=9), "port", "2 ports"),
        (request(TARGET_PORT, service(ports=TWO), port="htp", target_port=9), "port", "no port `htp`"),
        (request(TARGET_PORT, service(ports=TWO), port="http", target_port=8080), "target_port", "already"),
        (request(TARGET_PORT, service(ports=TWO), port="admin", target_port=81), "target_port", "already"),
        (request(TARGET_PORT, service(selector={}), target_port=9), "", "selects no pods"),
    ],
)
def test_a_target_port_has_to_be_another(asked: FaultRequest, parameter: str, message: str):
    (problem,) = TARGET_PORT.problems(asked)
    assert problem.parameter == parameter
    assert message in problem.message


@pytest.mark.parametrize(
    ("ports", "port", "pointer"),
    [
        ([{"port": 80}], None, "/spec/ports/0/targetPort"),
        ([{"name": "web", "port": 80, "targetPort": "http"}], None, "/spec/ports/web/targetPort"),
        (TWO, "admin", "/spec/ports/admin/targetPort"),
    ],
)
def test_one_port_gets_another_target(ports: Any, port: str | None, pointer: str):
    asked = request(TARGET_PORT, service(ports=ports), port=port, target_port=9090)
    assert TARGET_PORT.problems(asked) == []
    assert TARGET_PORT.touches(asked)[0].pointer == pointer
    chosen = next(each for each in broken(TARGET_PORT, asked)["spec"]["ports"] if port in {None, each.get("name")})
    assert chosen["targetPort"] == 9090


def test_endpoints_with_the_wrong_port_are_the_proof():
    effect = TARGET_PORT.effect(request(TARGET_PORT, service(), target_port=9090))
    assert proven(effect, [part(9090)])
    assert proven(effect, [part(9090), part(8080, name="admin")])
    assert not proven(effect, [part(8080)])
    assert not proven(effect, [part(9090), part(8080)])
    assert not proven(effect, [part(None, ready=None)])
