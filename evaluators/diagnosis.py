"""Judge a diagnosis: which of the true root causes were named, and how near the others were.

    diagnosis = (sum of the pairs' credits) / max(number of claims, number of causes)

Each claim is paired with at most one cause and each cause with at most one
claim, so that the sum is as large as it can be; a pair's credit is 1 / (1 + d)
with d the steps between them on the topology: 1 for the cause itself, 1/2 for
another object of the same component, 1/3 for an object of a component that
calls it or is called by it, and so on.

That a near miss is worth something, by hops on the service graph, is what
ITBench's `root_cause_proximity` does too. Two properties are added to it:

- The division is the precision: a claim more than there are causes costs, and
  naming all of N things finds one cause but scores 1/N.
- Credit for nearness is for a best guess, not for a list. It is given only
  while no more is claimed than there are causes; beyond that only exact hits
  count. So once as much is claimed as there is to find, no further wrong claim
  can raise the score, whatever it is near to.

The score is 1 exactly when the named set is the true set.

Where nothing is broken the true set is empty. Then the diagnosis is all there
is to be done, so an answer is needed that says so: silence isn't a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from itbc.contracts.evaluation import Entity, Truth
from itbc.contracts.evidence import AgentRun
from itbc.contracts.score import Verdict
from itbc.evaluators.topology import Claim, Key, Topology, describe, key_of

NOT_A_CAUSE = "not a cause: "
"""What the names of verdicts on wrong claims begin with; all others on root causes are about a true one."""

NOTHING_BROKEN = "nothing is broken"
"""The name of the verdict that stands for the diagnosis where there is no root cause."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`value` is the partial credit (0 to 1), `exact` whether the named set is the true set."""

    value: float
    exact: bool
    verdicts: tuple[Verdict, ...]


def diagnose(truth: Truth, agent: AgentRun) -> Diagnosis:
    """Judge an agent's answer against the truth; no answer scores 0."""
    topology = Topology(truth)
    causes = {key_of(entity): entity for entity in truth.root_causes}
    if agent.answer is None:
        why = f"the answer can't be read: {agent.answer_problem}" if agent.answer_problem else "no answer was handed in"
        missed = tuple(_verdict(causes[key], 0.0, why) for key in sorted(causes))
        return Diagnosis(0.0, exact=False, verdicts=missed or (_nothing_broken(why, passed=False),))
    claims = {claim.key: claim for claim in map(topology.resolve, agent.answer.root_causes)}
    exact = claims.keys() == causes.keys()
    pairs = _pairs(topology, sorted(causes), sorted(claims))
    # Where nothing is at fault and nothing was blamed, the sets are equal and empty.
    value = 1.0 if exact else sum(credit for _, credit in pairs.values()) / max(len(claims), len(causes))
    verdicts = [_judge_cause(causes[cause], claims, pairs) for cause in sorted(causes)]
    if not causes:
        verdicts.append(_nothing_broken("nothing was blamed" if exact else "something was blamed", passed=exact))
    verdicts += [_judge_extra(topology, claims[key], causes) for key in sorted(claims) if key not in causes]
    return Diagnosis(value, exact=exact, verdicts=tuple(verdicts))


def _pairs(topology: Topology, causes: list[Key], claims: list[Key]) -> dict[Key, tuple[Key, float]]:
    """For each cause that gets credit: the claim it is paired with and the credit."""
    hits = {cause: (cause, 1.0) for cause in causes if cause in claims}
    if len(claims) > len(causes):
        return hits
    # A hit is worth no less than the two near misses (1/2 each at most) it could be traded for, so hits go first.
    misses = [cause for cause in causes if cause not in hits]
    guesses = [claim for claim in claims if claim not in hits]
    return hits | _best_pairs(topology, misses, guesses)


def _best_pairs(topology: Topology, causes: list[Key], claims: list[Key]) -> dict[Key, tuple[Key, float]]:
    """The pairing of the largest sum: for each set of causes already taken (a bit mask), the best way to get there."""
    best: dict[int, tuple[float, dict[Key, tuple[Key, float]]]] = {0: (0.0, {})}
    for claim in claims:
        worth = [_credit(topology.distance(cause, claim)) for cause in causes]
        for taken, (total, pairs) in list(best.items()):
            for bit, credit in enumerate(worth):
                mask = taken | 1 << bit
                if mask == taken or not credit:
                    continue
                if mask not in best or best[mask][0] < total + credit:
                    best[mask] = (total + credit, {**pairs, causes[bit]: (claim, credit)})
    return max(best.values(), key=lambda found: found[0])[1]


def _credit(distance: int | None) -> float:
    return 0.0 if distance is None else 1 / (1 + distance)


def _judge_cause(entity: Entity, claims: Mapping[Key, Claim], pairs: Mapping[Key, tuple[Key, float]]) -> Verdict:
    key = key_of(entity)
    if key not in pairs:
        return _verdict(entity, 0.0, "not named")
    claim, credit = pairs[key]
    if claim == key:
        return _verdict(entity, 1.0, "named")
    return _verdict(entity, credit, f"not named; the nearest claim is {claims[claim].words}, {_steps(credit)} away")


def _nothing_broken(reason: str, *, passed: bool) -> Verdict:
    return Verdict(name=NOTHING_BROKEN, kind="healthy", passed=passed, value=float(passed), reason=reason)


def _judge_extra(topology: Topology, claim: Claim, causes: Mapping[Key, Entity]) -> Verdict:
    near = [
        (d, describe(cause)) for key, cause in causes.items() if (d := topology.distance(key, claim.key)) is not None
    ]
    if claim.problem:
        why = claim.problem
    elif near:
        distance, cause = min(near)
        why = f"{_steps(1 / (1 + distance))} away from {cause}"
    else:
        why = "not connected with any cause"
    return Verdict(
        name=f"{NOT_A_CAUSE}{claim.words}",
        kind="root-cause",
        passed=False,
        value=0.0,
        reason=f"named as a cause, but {why}",
    )


def _verdict(entity: Entity, value: float, reason: str) -> Verdict:
    return Verdict(name=describe(entity), kind="root-cause", passed=value == 1.0, value=value, reason=reason)


def _steps(credit: float) -> str:
    steps = round(1 / credit) - 1
    return "1 step" if steps == 1 else f"{steps} steps"
