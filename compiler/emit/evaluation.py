"""`evaluation.json`."""

from __future__ import annotations

from itbc.compiler.plan import Keep, Node, Plan
from itbc.contracts import evaluation as contract
from itbc.dsl.model import Objective, ObjectRef


def evaluation(plan: Plan) -> contract.Evaluation:
    """The truth, and what "solved" means."""
    judge = plan.judge
    return contract.Evaluation(
        scenario=plan.scenario,
        truth=contract.Truth(
            root_causes=[_entity(cause.cluster, cause.ref) for cause in judge.root_causes],
            chain=list(judge.chain),
            topology=[_component(node) for node in judge.topology],
        ),
        objectives=[_objective(objective) for objective in judge.objectives],
        safeguards=[_safeguard(keep) for keep in judge.safeguards],
    )


def _entity(cluster: str, ref: ObjectRef) -> contract.Entity:
    return contract.Entity(cluster=cluster, namespace=ref.namespace, kind=ref.kind, name=ref.name)


def _component(node: Node) -> contract.Component:
    return contract.Component(
        name=node.component.name,
        entities=[_entity(node.cluster, ref) for ref in node.component.objects],
        calls=list(node.component.calls),
    )


def _objective(objective: Objective) -> contract.Objective:
    return contract.Objective(
        name=objective.name,
        cluster=objective.cluster,
        query=objective.slo.query,
        comparison=objective.slo.comparison,
        bound=objective.slo.bound,
        hold_seconds=objective.hold_seconds,
        settle_seconds=objective.settle_seconds,
        origin=objective.span.origin,
    )


def _safeguard(keep: Keep) -> contract.Safeguard:
    return contract.Safeguard(
        name=keep.name,
        cluster=keep.cluster,
        namespace=keep.namespace,
        kinds=list(keep.kinds),
        exemptions=[
            contract.Exemption(entity=_entity(keep.cluster, exempt.ref), pointer=exempt.pointer)
            for exempt in keep.exempt
        ],
        origin=keep.span.origin,
    )
