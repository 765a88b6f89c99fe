"""Resource names of Kubernetes objects."""

from __future__ import annotations

from dataclasses import replace

from itbc.compiler.plan import Plan
from itbc.compiler.workloads import application_stacks
from itbc.dsl.model import ObjectRef
from itbc.stacks import properties


def names(plan: Plan, *refs: ObjectRef) -> list[str]:
    (step,) = plan.applications
    declared = step.phases[-1][0]
    (use,) = application_stacks(replace(step, phases=(tuple(replace(declared, ref=ref) for ref in refs),)))
    given = use.declaration.properties
    assert isinstance(given, properties.Application)
    made = [entry.name for phase in given.phases for entry in phase]
    assert sorted(use.origins) == sorted(f"itbc_kubernetes_object.{name}" for name in made)
    return made


def test_names_say_kind_and_name(plan: Plan):
    assert names(plan, ObjectRef("Deployment", "check-out", "shop"), ObjectRef("Service", "check-out", "shop")) == [
        "deployment_check-out",
        "service_check-out",
    ]


def test_names_say_the_namespace_where_they_must(plan: Plan):
    assert names(plan, ObjectRef("Secret", "s", "a"), ObjectRef("Secret", "s", "b"), ObjectRef("Secret", "t", "a")) == [
        "secret_a_s",
        "secret_b_s",
        "secret_t",
    ]


def test_names_stay_apart_whatever_is_left_of_them(plan: Plan):
    made = names(plan, ObjectRef("Role", "a.b", "x"), ObjectRef("Role", "a_b", "x"), ObjectRef("Role", "x_a_b", "y"))
    assert len(set(made)) == 3
    assert all(name.replace("_", "").replace("-", "").isalnum() for name in made)


def test_only_workloads_are_waited_for(plan: Plan):
    (step,) = plan.applications
    (use,) = application_stacks(step)
    given = use.declaration.properties
    assert isinstance(given, properties.Application)
    waited = {entry.name: entry.wait for phase in given.phases for entry in phase}
    assert waited["deployment_checkout"] == "ready"
    assert waited["service_checkout"] == waited["namespace_shop"] == waited["configmap_settings"] == "none"
