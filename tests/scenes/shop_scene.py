"""A small shop: load → frontend → {catalogue, checkout → payment}; checkout calls a wrong payment address."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from itbc.contracts.answer import Answer, Cause
from itbc.contracts.evaluation import (
    Component,
    Entity,
    Evaluation,
    Exemption,
    Objective,
    Safeguard,
    Truth,
)
from itbc.contracts.evidence import AgentRun, Evidence, ObjectState, Sample, Series
from itbc.contracts.shape import Origin

ORIGIN = Origin(file="scenario.itb", line=1, column=1)
HOLD, SETTLE = 10.0, 20.0


def entity(name: str, kind: str = "Deployment") -> Entity:
    return Entity(cluster="shop", namespace="shop", kind=kind, name=name)


def component(name: str, *calls: str) -> Component:
    return Component(name=name, entities=[entity(name), entity(name, "Service")], calls=list(calls))


TOPOLOGY = [
    component("load", "frontend"),
    component("frontend", "catalogue", "checkout"),
    component("catalogue"),
    component("checkout", "payment"),
    component("payment"),
]


def truth(*causes: Entity) -> Truth:
    return Truth(root_causes=list(causes or [entity("checkout")]), chain=["checkout", "frontend"], topology=TOPOLOGY)


def cause(name: str, kind: str = "Deployment", namespace: str = "shop", cluster: str = "shop") -> Cause:
    return Cause(kind=kind, name=name, namespace=namespace, cluster=cluster)


def agent(*causes: Cause, answered: bool = True, problem: str = "") -> AgentRun:
    answer = Answer(root_causes=list(causes)) if answered else None
    return AgentRun(name="test", outcome="finished", exit_code=0, seconds=1.0, answer=answer, answer_problem=problem)


def objective(**changes: Any) -> Objective:
    values: dict[str, Any] = {
        "name": "orders-succeed",
        "cluster": "shop",
        "query": "errors",
        "comparison": "<",
        "bound": 0.01,
        "hold_seconds": HOLD,
        "settle_seconds": SETTLE,
        "origin": ORIGIN,
    }
    return Objective(**(values | changes))


def samples(*stretches: tuple[int, float | None], step: float = 1.0) -> list[Sample]:
    """Samples one step apart: so many of each value, one stretch after the other."""
    values = [value for count, value in stretches for _ in range(count)]
    return [Sample(at=i * step, value=value) for i, value in enumerate(values)]


def deployment(name: str, address: str = "http://payment:8080") -> ObjectState:
    thing = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "labels": {"app": name},
        },
        "spec": {
            "replicas": 1,
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "containers": [
                        {
                            "name": name,
                            "image": "itbc.local/shop:1",
                            "env": [{"name": "PAYMENT_ADDR", "value": address}, {"name": "ROLE", "value": name}],
                            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                        }
                    ]
                },
            },
        },
    }
    return ObjectState(entity=entity(name), uid=f"uid-{name}", object=thing)


def service(name: str) -> ObjectState:
    thing = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-svc-{name}"},
        "spec": {"selector": {"app": name}, "ports": [{"port": 8080, "targetPort": 8080}]},
    }
    return ObjectState(entity=entity(name, "Service"), uid=f"uid-svc-{name}", object=thing)


def changed(state: ObjectState, change: Callable[[dict[str, Any]], None], uid: str | None = None) -> ObjectState:
    """A copy of an object's state that was changed in place."""
    thing = copy.deepcopy(state.object)
    change(thing)
    return ObjectState(entity=state.entity, uid=uid or state.uid, object=thing)


def container(thing: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = thing["spec"]["template"]["spec"]["containers"][0]
    return found


NAMES = [each.name for each in TOPOLOGY]
BASELINE = [state for name in NAMES for state in (deployment(name), service(name))]
POINTER = "/spec/template/spec/containers/checkout/env/PAYMENT_ADDR"


def guard(**changes: Any) -> Safeguard:
    values: dict[str, Any] = {
        "name": "nothing-else-changed",
        "cluster": "shop",
        "namespace": "shop",
        "kinds": ["Deployment", "Service"],
        "exemptions": [Exemption(entity=entity("checkout"), pointer=POINTER)],
        "origin": ORIGIN,
    }
    return Safeguard(**(values | changes))


def replaced(*states: ObjectState) -> list[ObjectState]:
    """The baseline with some objects in another state."""
    changes = {(s.entity.kind, s.entity.name): s for s in states}
    return [changes.get((s.entity.kind, s.entity.name), s) for s in BASELINE]


def evaluation() -> Evaluation:
    return Evaluation(
        scenario="checkout-wrong-payment-address", truth=truth(), objectives=[objective()], safeguards=[guard()]
    )


def evidence(*causes: Cause, after: Sequence[ObjectState] = BASELINE, seen: Sequence[Sample] | None = None) -> Evidence:
    healed = samples((5, 0.3), (11, 0.0)) if seen is None else seen
    return Evidence(
        run="run-1",
        scenario="checkout-wrong-payment-address",
        agent=agent(*causes),
        alerts=[],
        series=[Series(objective="orders-succeed", step_seconds=1.0, samples=list(healed))],
        before=list(BASELINE),
        after=list(after),
    )
