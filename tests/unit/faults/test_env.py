"""The family `k8s.env.*` against declared objects and against pods."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from fault_scene import WORKLOAD, broken, container_changed, kind_of, pod, proven, request, spec_changed

from itbc.dsl.catalogue import FaultRequest

MODIFIED = kind_of("k8s.env.modified")
MISSING = kind_of("k8s.env.missing")
SHADOWED = kind_of("k8s.env.shadowed")
TOKEN = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "t", "key": "k"}}}
ENV = [{"name": "PORT", "value": "8080"}, {"name": "PAYMENT_ADDR", "value": "payment:8080"}, TOKEN]
SEVERAL = container_changed(env=ENV)


def modified(manifest: Any = SEVERAL, **parameters: str) -> FaultRequest:
    return request(MODIFIED, manifest, **{"variable": "PAYMENT_ADDR", "value": "payment:9999", **parameters})


@pytest.mark.parametrize(
    ("asked", "parameter", "message", "advice"),
    [
        (modified(variable="PAYMENT_ADR"), "variable", "no environment variable `PAYMENT_ADR`", "`PAYMENT_ADDR`?"),
        (modified(variable="ZZ"), "variable", "no environment variable `ZZ`", "`PAYMENT_ADDR`, `PORT`, `TOKEN`"),
        (modified(variable="TOKEN"), "variable", "from another object", "ConfigMap or Secret"),
        (modified(value="payment:8080"), "value", "already has this value", "differs"),
        (modified(container="chekout"), "container", "no container `chekout`", "`checkout`?"),
        (modified(spec_changed(replicas=0)), "", "no replicas", "workload that runs"),
        (modified(spec_changed(updateStrategy={"type": "OnDelete"})), "", "`OnDelete`", "replaces its pods"),
    ],
)
def test_a_wrong_request_says_where_why_and_what_to_do(asked: FaultRequest, parameter: str, message: str, advice: str):
    (problem,) = MODIFIED.problems(asked)
    assert problem.parameter == parameter
    assert message in problem.message
    assert advice in problem.help


def test_two_containers_need_a_choice():
    manifest = copy.deepcopy(SEVERAL)
    manifest["spec"]["template"]["spec"]["containers"].insert(0, {"name": "proxy"})
    (problem,) = MODIFIED.problems(modified(manifest))
    assert problem.parameter == "container"
    assert "`proxy`, `checkout`" in problem.help
    chosen = modified(manifest, container="checkout")
    assert MODIFIED.problems(chosen) == []
    assert broken(MODIFIED, chosen)["spec"]["template"]["spec"]["containers"][1]["env"][1]["value"] == "payment:9999"


def test_a_variable_declared_without_a_value_gets_one():
    asked = modified(container_changed(env=[{"name": "PAYMENT_ADDR"}]))
    assert MODIFIED.problems(asked) == []
    assert broken(MODIFIED, asked)["spec"]["template"]["spec"]["containers"][0]["env"] == [
        {"name": "PAYMENT_ADDR", "value": "payment:9999"}
    ]


@pytest.mark.parametrize("value", ["payment:9999", 'it\'s `odd` "text" \\ \\` {{ x }}', "", "1"])
def test_a_wrong_value_is_proven_by_pods_that_have_it(value: str):
    asked = modified(value=value)
    effect = MODIFIED.effect(asked)
    assert proven(effect, [pod(broken(MODIFIED, asked))])
    assert not proven(effect, [pod(SEVERAL)])
    assert not proven(effect, [pod(broken(MODIFIED, asked)), pod(SEVERAL)])
    assert proven(effect, [pod(broken(MODIFIED, asked), ready=False, restarts=2), pod(SEVERAL)])


def test_a_missing_variable_is_gone_whatever_it_came_from():
    asked = request(MISSING, SEVERAL, variable="TOKEN")
    assert MISSING.problems(asked) == []
    after = broken(MISSING, asked)
    assert after["spec"]["template"]["spec"]["containers"][0]["env"] == ENV[:2]
    assert proven(MISSING.effect(asked), [pod(after)])
    assert proven(MISSING.effect(asked), [pod(after, ready=False, restarts=1), pod(SEVERAL)])
    assert not proven(MISSING.effect(asked), [pod(after, ready=False), pod(SEVERAL)])


def test_the_last_variable_can_be_missing_too():
    asked = request(MISSING, WORKLOAD, variable="PAYMENT_ADDR")
    assert proven(MISSING.effect(asked), [pod(broken(MISSING, asked))])
    assert proven(MISSING.effect(asked), [pod(container_changed(env=None))])


def test_what_is_not_there_can_not_be_missing():
    (problem,) = MISSING.problems(request(MISSING, variable="PAYMENT"))
    assert (problem.parameter, problem.help) == ("variable", "did you mean `PAYMENT_ADDR`?")


@pytest.mark.parametrize(
    ("asked", "parameter", "message", "advice"),
    [
        (request(SHADOWED, variable="PAYMENT_ADDR", value="x"), "variable", "already sets", "k8s.env.modified"),
        (request(SHADOWED, variable="REQUEST_TIMEOUT", value="2s"), "value", "already has this value", "differs"),
        (request(SHADOWED, variable="REQUEST_TIME", value="x"), "variable", "takes no variable", "`REQUEST_TIMEOUT`?"),
        (
            request(SHADOWED, container_changed(envFrom=None), variable="X", value="x"),
            "variable",
            "takes no",
            "declares",
        ),
    ],
)
def test_only_settings_are_shadowed(asked: FaultRequest, parameter: str, message: str, advice: str):
    (problem,) = SHADOWED.problems(asked)
    assert problem.parameter == parameter
    assert message in problem.message
    assert advice in problem.help


def test_settings_that_nobody_declares_may_hold_anything():
    source = [{"secretRef": {"name": "elsewhere"}}, {"prefix": "APP_", "configMapRef": {"name": "settings"}}]
    manifest = container_changed(envFrom=source)
    assert SHADOWED.problems(request(SHADOWED, manifest, variable="UNKNOWN", value="x")) == []
    (problem,) = SHADOWED.problems(request(SHADOWED, manifest, variable="APP_REQUEST_TIMEOUT", value="2s"))
    assert problem.parameter == "value"


@pytest.mark.parametrize("env", [None, [], [{"name": "PORT", "value": "8080"}]])
def test_a_shadow_is_one_more_variable(env: Any):
    asked = request(SHADOWED, container_changed(env=env), variable="REQUEST_TIMEOUT", value="1ms")
    after = broken(SHADOWED, asked)
    added = after["spec"]["template"]["spec"]["containers"][0]["env"]
    assert added == [*(env or []), {"name": "REQUEST_TIMEOUT", "value": "1ms"}]
    assert proven(SHADOWED.effect(asked), [pod(after)])
    assert not proven(SHADOWED.effect(asked), [pod(asked.manifest)])
