"""Lowering: what becomes of a scenario, and what a target can't provide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from itbc.compiler import codes
from itbc.compiler.lower import lower
from itbc.compiler.lower.images import LIMIT_BYTES
from itbc.compiler.plan import Plan
from itbc.compiler.target import Target
from itbc.dsl.catalogue import Touch
from itbc.dsl.diagnostics import Sink
from itbc.dsl.model import Cluster, Host, Safeguard, Scenario, Unchanged


def with_cluster(scenario: Scenario, *clusters: Cluster) -> Scenario:
    return replace(scenario, environment=replace(scenario.environment, clusters=clusters))


def reported(scenario: Scenario, target: Target) -> Sink:
    sink = Sink()
    assert lower(scenario, target, sink) is None
    return sink


def test_every_need_is_a_step_that_comes_before(plan: Plan):
    steps = [
        *plan.clusters,
        *plan.telemetry,
        *plan.applications,
        plan.healthy,
        *plan.faults,
        *plan.alerts,
        plan.work,
        plan.judge,
    ]
    done: set[str] = set()
    for step in steps:
        assert set(step.needs) <= done, step.id
        assert step.id not in done
        done.add(step.id)


def test_what_the_target_lacks_is_reported_all_at_once_with_its_place(scenario: Scenario, embedded: Target):
    (cluster,) = scenario.environment.clusters
    telemetry = replace(cluster.telemetry, signals=frozenset({"metrics", "traces", "logs"}))
    asked = with_cluster(scenario, replace(cluster, nodes=3, telemetry=telemetry))
    asked = replace(asked, environment=replace(asked.environment, hosts=(Host("db", "rhel9", cluster.span),)))

    class Poor:
        name = "poor"
        summary = "a target that collects metrics only"
        abilities = replace(embedded.abilities, signals=frozenset({"metrics"}))
        stacks = embedded.stacks

    sink = reported(asked, Poor())
    found = [(each.code, each.span.origin.line) for each in sink.diagnostics]
    line, seen = cluster.span.origin.line, telemetry.span.origin.line
    assert sorted(found, key=lambda each: each[0].id) == [
        (codes.TARGET_HOSTS, line),
        (codes.TARGET_SIGNAL, seen),
        (codes.TARGET_SIGNAL, seen),
        (codes.TARGET_NODES, line),
    ]
    assert all(each.help for each in sink.diagnostics)


def test_a_target_without_a_builder_takes_no_images(scenario: Scenario, embedded: Target):
    class Elsewhere:
        name = "elsewhere"
        summary = "a cluster of somebody else"
        abilities = replace(embedded.abilities, builds_images=False)
        stacks = embedded.stacks

    (wrong,) = reported(scenario, Elsewhere()).diagnostics
    assert wrong.code is codes.TARGET_IMAGES
    assert wrong.span.origin.file == "shop.itb"


def test_an_environment_of_nothing_is_refused(scenario: Scenario, embedded: Target):
    (wrong,) = reported(with_cluster(scenario), embedded).diagnostics
    assert wrong.code is codes.NOTHING_STANDS


def test_objects_come_in_phases_and_the_namespace_first(plan: Plan):
    (application,) = plan.applications
    kinds = [sorted({declared.ref.kind for declared in phase}) for phase in application.phases]
    assert kinds == [["Namespace"], ["ConfigMap"], ["Service"], ["Deployment"]]
    assert sum(len(phase) for phase in application.phases) == 7


def test_a_declared_namespace_is_not_made_twice(sample: Path, read: Callable[[Path], Scenario], embedded: Target):
    manifest = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  labels: {team: shop}\n"
    (sample / "manifests" / "namespace.yaml").write_text(manifest)
    plan = lower(read(sample), embedded, Sink())
    assert plan is not None
    ((namespace,), *_) = plan.applications[0].phases
    assert namespace.manifest["metadata"]["labels"] == {"team": "shop"}


def test_a_shared_namespace_comes_with_the_first_application(scenario: Scenario, embedded: Target):
    (cluster,) = scenario.environment.clusters
    (shop,) = cluster.applications
    other = replace(shop, name="other", images=())
    plan = lower(with_cluster(scenario, replace(cluster, applications=(shop, other))), embedded, Sink())
    assert plan is not None
    first, second = plan.applications
    assert second.needs == ("cluster/shop", first.id)
    assert "Namespace" not in {declared.ref.kind for phase in second.phases for declared in phase}


def test_faults_come_one_after_the_other(scenario: Scenario, embedded: Target):
    (fault,) = scenario.faults
    plan = lower(replace(scenario, faults=(fault, replace(fault, name="again"))), embedded, Sink())
    assert plan is not None
    first, second = plan.faults
    assert (first.needs, second.needs) == (("healthy",), (first.id,))
    assert plan.alerts[0].needs == (first.id, second.id)


def test_a_repair_may_change_what_the_fault_changed_and_nothing_else(plan: Plan):
    (keep,) = plan.judge.safeguards
    # Who deletes a Deployment may leave its ReplicaSet and pods running.
    assert keep.kinds == ("Deployment", "Pod", "ReplicaSet", "Service")
    ((exempt),) = keep.exempt
    assert (exempt.ref.kind, exempt.ref.name) == ("Deployment", "checkout")
    assert exempt.pointer == "/spec/template/spec/containers/checkout/env/PAYMENT_ADDR"


def test_what_a_fault_creates_belongs_to_what_it_aims_at(scenario: Scenario, embedded: Target):
    (fault,) = scenario.faults
    touches = (Touch("NetworkPolicy", "checkout", ""), Touch("PriorityClass", "filler", ""))
    creating = replace(scenario, faults=(replace(fault, touches=(*fault.touches, *touches)),))
    plan = lower(creating, embedded, Sink())
    assert plan is not None
    found = {
        node.component.name: {(ref.kind, ref.name, ref.namespace) for ref in node.component.objects}
        for node in plan.judge.topology
    }
    created = {("NetworkPolicy", "checkout", "shop"), ("PriorityClass", "filler", "")}
    assert created <= found.pop("checkout")
    assert not any(created & others for others in found.values())


def test_a_safeguard_over_two_namespaces_becomes_two(scenario: Scenario, embedded: Target):
    (safeguard,) = scenario.desired.safeguards
    wide = Safeguard("calm", (*safeguard.unchanged, Unchanged("shop", "ops", "Service")), safeguard.span)
    plan = lower(replace(scenario, desired=replace(scenario.desired, safeguards=(wide,))), embedded, Sink())
    assert plan is not None
    assert [(keep.name, keep.kinds, len(keep.exempt)) for keep in plan.judge.safeguards] == [
        ("calm (shop/ops)", ("Service",), 0),
        ("calm (shop/shop)", ("Deployment", "Pod", "ReplicaSet", "Service"), 1),
    ]


def test_healthy_means_available_met_and_silent(plan: Plan):
    queries = {condition.name: condition.query for condition in plan.healthy.conditions}
    assert queries == {
        "every Deployment of shop is available": (
            'count(kube_deployment_status_replicas_available{namespace="shop",deployment=~"checkout|frontend|load"}'
            " >= on (namespace, deployment)"
            ' kube_deployment_spec_replicas{namespace="shop",deployment=~"checkout|frontend|load"}) == bool 3'
        ),
        "objective orders-succeed is met": (
            "(sum(rate(http_requests_total{code=~'5..'}[30s])) / sum(rate(http_requests_total[30s]))) < bool 0.01"
        ),
        "alert HighRequestErrorRate is silent": (
            '(count(ALERTS{alertname="HighRequestErrorRate",alertstate="firing",service="frontend"})'
            " or vector(0)) == bool 0"
        ),
    }


def test_what_only_changed_demand_makes_possible_is_not_waited_for(scenario: Scenario, embedded: Target):
    (objective,) = scenario.desired.objectives
    later = replace(scenario, desired=replace(scenario.desired, objectives=(replace(objective, baseline=False),)))
    made = lower(later, embedded, Sink())
    assert made is not None
    assert "objective orders-succeed is met" not in {condition.name for condition in made.healthy.conditions}
    assert [each.name for each in made.judge.objectives] == ["orders-succeed"]


def test_images_are_read_without_tests_and_hidden_files(
    sample: Path, read: Callable[[Path], Scenario], embedded: Target
):
    plain = lower(read(sample), embedded, Sink())
    (sample / "service" / "main_test.go").write_text("package main\n")
    (sample / "service" / ".git").mkdir()
    (sample / "service" / ".git" / "HEAD").write_text("ref")
    (sample / "service" / ".env").write_text("SECRET=1")
    again = lower(read(sample), embedded, Sink())
    assert plain is not None
    assert again is not None
    (image,) = again.applications[0].images
    assert [entry.path for entry in image.files] == ["go.mod", "main.go"]
    assert image.digest == plain.applications[0].images[0].digest


def test_an_images_digest_stands_for_every_file_and_its_path(
    sample: Path, read: Callable[[Path], Scenario], embedded: Target
):
    digests: set[str] = set()
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: (sample / "service" / "main.go").write_text("package main\n\nfunc main() { println() }\n"),
        lambda: (sample / "service" / "more.go").write_text("package main\n"),
        lambda: (sample / "service" / "more.go").rename(sample / "service" / "most.go"),
    ]
    for step in steps:
        step()
        plan = lower(read(sample), embedded, Sink())
        assert plan is not None
        digests.add(plan.applications[0].images[0].digest)
    assert len(digests) == len(steps)


def link(service: Path) -> None:
    (service / "secret.go").symlink_to("/etc/passwd")


def linked_folder(service: Path) -> None:
    (service / "etc").symlink_to("/etc")


def huge(service: Path) -> None:
    with (service / "data.bin").open("wb") as file:
        file.truncate(LIMIT_BYTES + 1)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (link, "`secret.go` isn't an ordinary file"),
        (linked_folder, "`etc` isn't an ordinary file"),
        (huge, "larger than 32 MiB"),
    ],
)
def test_a_source_that_can_not_be_copied_is_reported(
    damage: Callable[[Path], None],
    said: str,
    sample: Path,
    read: Callable[[Path], Scenario],
    embedded: Target,
):
    damage(sample / "service")
    (wrong,) = reported(read(sample), embedded).diagnostics
    assert wrong.code is codes.IMAGE_FILE
    assert said in wrong.labels[0].message
    assert wrong.span.origin.file == "shop.itb"
