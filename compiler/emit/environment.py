"""`environment.json`."""

from __future__ import annotations

from collections.abc import Sequence

from itbc.compiler.emit.plays import play_name
from itbc.compiler.plan import Break, Condition, ExpectAlert, Node, ObserveCluster, Plan, Repair, WrongRepair
from itbc.compiler.target import StackUse, cluster_stack, telemetry_stack
from itbc.contracts import environment as contract
from itbc.dsl.model import Grant


def environment(plan: Plan, stacks: Sequence[StackUse]) -> contract.Environment:
    """All that a run needs except the truth."""
    return contract.Environment(
        scenario=plan.scenario,
        target=plan.target,
        stacks=[_stack(use) for use in stacks],
        clusters=[_cluster(plan, step) for step in plan.telemetry],
        baseline=[_baseline(condition) for condition in plan.healthy.conditions],
        faults=[_fault(step) for step in plan.faults],
        alerts=[_alert(step) for step in plan.alerts],
        task=contract.Task(
            goal=plan.work.goal,
            within_seconds=plan.work.within_seconds,
            grants=[_grant(grant) for grant in plan.work.grants],
            topology=[_component(node) for node in plan.work.topology],
        ),
        solution=[_repair(step) for step in plan.repairs],
        mutants=[_mutant(mutant) for mutant in plan.mutants],
    )


def _stack(use: StackUse) -> contract.Stack:
    return contract.Stack(
        id=use.id,
        folder=f"terraform/{use.id}",
        needs=sorted(use.needs),
        inputs=dict(sorted(use.inputs.items())),
        lives_in=use.lives_in,
    )


def _cluster(plan: Plan, step: ObserveCluster) -> contract.Cluster:
    name, telemetry = step.cluster, telemetry_stack(step.cluster)
    return contract.Cluster(
        name=name,
        kubeconfig=f"{cluster_stack(name)}.kubeconfig",
        prometheus=f"{telemetry}.prometheus",
        alertmanager=f"{telemetry}.alertmanager",
        namespaces=list(plan.namespaces(name)),
        telemetry=telemetry,
        signals={signal: f"{telemetry}.{signal}" for signal in step.signals},
        masks=[str(mask) for mask in step.masks],
    )


def _component(node: Node) -> contract.Component:
    return contract.Component(
        cluster=node.cluster,
        name=node.component.name,
        objects=[
            contract.NamedObject(kind=ref.kind, namespace=ref.namespace, name=ref.name)
            for ref in node.component.objects
        ],
        calls=list(node.component.calls),
    )


def _baseline(condition: Condition) -> contract.Baseline:
    return contract.Baseline(
        name=condition.name,
        cluster=condition.cluster,
        query=condition.query,
        within_seconds=condition.within_seconds,
        origin=condition.span.origin,
    )


def _fault(step: Break) -> contract.Fault:
    return contract.Fault(
        id=step.fault,
        kind=step.kind,
        cluster=step.cluster,
        inject=play_name(step.fault, "inject"),
        prove=play_name(step.fault, "prove"),
        undo=play_name(step.fault, "undo"),
        origin=step.span.origin,
    )


def _alert(step: ExpectAlert) -> contract.ExpectedAlert:
    return contract.ExpectedAlert(
        name=step.alert,
        cluster=step.cluster,
        labels=dict(step.labels),
        within_seconds=step.within_seconds,
        origin=step.span.origin,
    )


def _grant(grant: Grant) -> contract.Grant:
    return contract.Grant(
        cluster=grant.cluster,
        namespace=grant.namespace,
        api_groups=list(grant.api_groups),
        resources=list(grant.resources),
        verbs=list(grant.verbs),
    )


def _mutant(mutant: WrongRepair) -> contract.Mutant:
    return contract.Mutant(
        name=mutant.name,
        why=mutant.why,
        steps=[_repair(step) for step in mutant.repairs],
        origin=mutant.span.origin,
    )


def _repair(step: Repair) -> contract.Repair:
    return contract.Repair(cluster=step.cluster, command=list(step.command), origin=step.span.origin)
