"""The fault `k8s.env.modified` against declared objects, and its effect against pods."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import jmespath
import jsonpatch
import pytest

from itbc.dsl.catalogue import FaultRequest
from itbc.providers.faults import catalogue

KIND = catalogue().faults["k8s.env.modified"]

CHECKOUT: Mapping[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "checkout", "namespace": "shop"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "checkout"}},
        "template": {
            "metadata": {"labels": {"app": "checkout", "tier": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "checkout",
                        "env": [
                            {"name": "PORT", "value": "8080"},
                            {"name": "PAYMENT_ADDR", "value": "http://payment:8080"},
                            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "t", "key": "k"}}},
                        ],
                    }
                ]
            },
        },
    },
}


def request(manifest: Mapping[str, Any] = CHECKOUT, **parameters: str) -> FaultRequest:
    given = {"variable": "PAYMENT_ADDR", "value": "http://payment:9999", **parameters}
    return FaultRequest("shop", "shop", str(manifest["kind"]), "checkout", manifest, given)


def changed(**spec: Any) -> Mapping[str, Any]:
    manifest = copy.deepcopy(dict(CHECKOUT))
    manifest["spec"].update(spec)
    return manifest


def test_a_right_request_has_no_problems():
    assert KIND.problems(request()) == []


@pytest.mark.parametrize(
    ("asked", "parameter", "message", "advice"),
    [
        (request(variable="PAYMENT_ADR"), "variable", "no environment variable `PAYMENT_ADR`", "`PAYMENT_ADDR`?"),
        (request(variable="ZZ"), "variable", "no environment variable `ZZ`", "`PAYMENT_ADDR`, `PORT`, `TOKEN`"),
        (request(variable="TOKEN"), "variable", "from another object", "ConfigMap or Secret"),
        (request(value="http://payment:8080"), "value", "already has this value", "differs"),
        (request(container="chekout"), "container", "no container `chekout`", "`checkout`?"),
        (request(changed(replicas=0)), "", "no replicas", "workload that runs"),
        (request(changed(updateStrategy={"type": "OnDelete"})), "", "`OnDelete`", "replaces its pods"),
    ],
)
def test_a_wrong_request_says_where_why_and_what_to_do(asked: FaultRequest, parameter: str, message: str, advice: str):
    (problem,) = KIND.problems(asked)
    assert problem.parameter == parameter
    assert message in problem.message
    assert advice in problem.help


def test_two_containers_need_a_choice():
    manifest = copy.deepcopy(dict(CHECKOUT))
    manifest["spec"]["template"]["spec"]["containers"].insert(0, {"name": "proxy"})
    (problem,) = KIND.problems(request(manifest))
    assert problem.parameter == "container"
    assert "`proxy`, `checkout`" in problem.help
    chosen = request(manifest, container="checkout")
    assert KIND.problems(chosen) == []
    assert KIND.changes(chosen)[0].patch[0]["path"] == "/spec/template/spec/containers/1/name"


def test_a_manifest_without_a_pod_template_is_a_problem_and_no_traceback():
    (problem,) = KIND.problems(request({"apiVersion": "apps/v1", "kind": "Deployment", "spec": None}))
    assert "0 containers" in problem.message


def test_it_touches_the_variable_and_nothing_else():
    (touch,) = KIND.touches(request())
    assert (touch.kind, touch.name) == ("Deployment", "checkout")
    assert touch.pointer == "/spec/template/spec/containers/checkout/env/PAYMENT_ADDR"


def test_the_patch_changes_the_value_only():
    (change,) = KIND.changes(request())
    assert (change.api_version, change.kind, change.namespace, change.name) == (
        "apps/v1",
        "Deployment",
        "shop",
        "checkout",
    )
    after = jsonpatch.apply_patch(dict(CHECKOUT), list(change.patch))
    expected = copy.deepcopy(dict(CHECKOUT))
    expected["spec"]["template"]["spec"]["containers"][0]["env"][1]["value"] = "http://payment:9999"
    assert after == expected


def test_the_patch_is_refused_where_the_live_object_is_another():
    (change,) = KIND.changes(request())
    live = copy.deepcopy(dict(CHECKOUT))
    live["spec"]["template"]["spec"]["containers"][0]["env"].pop(0)
    with pytest.raises(jsonpatch.JsonPatchTestFailed):
        jsonpatch.apply_patch(live, list(change.patch))


def test_a_variable_declared_without_a_value_gets_one():
    manifest = copy.deepcopy(dict(CHECKOUT))
    del manifest["spec"]["template"]["spec"]["containers"][0]["env"][1]["value"]
    asked = request(manifest)
    assert KIND.problems(asked) == []
    after = jsonpatch.apply_patch(manifest, list(KIND.changes(asked)[0].patch))
    assert after["spec"]["template"]["spec"]["containers"][0]["env"][1]["value"] == "http://payment:9999"


@pytest.mark.parametrize("value", ["http://payment:9999", 'it\'s `odd` "text" \\ \\` {{ x }}', "", "1"])
def test_the_effect_is_true_of_pods_that_have_the_value_and_of_no_others(value: str):
    effect = KIND.effect(request(value=value))
    assert effect.rollout == (("Deployment", "checkout"),)
    assert effect.pods == {"app": "checkout"}

    def pod(seen: str | None) -> dict[str, Any]:
        env = [{"name": "PORT", "value": value}]
        if seen is not None:
            env.append({"name": "PAYMENT_ADDR", "value": seen})
        return {"spec": {"containers": [{"name": "proxy", "env": []}, {"name": "checkout", "env": env}]}}

    assert jmespath.search(effect.pod_expression, pod(value)) is True
    assert jmespath.search(effect.pod_expression, pod("http://payment:8080")) is False
    assert jmespath.search(effect.pod_expression, pod(None)) is False
