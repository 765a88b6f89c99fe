"""Whether a scenario has the parts that its persona needs."""

from __future__ import annotations

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink
from itbc.dsl.entries import Entry

_NEEDED: dict[str, tuple[tuple[str, str], ...]] = {
    "sre": (
        ("fault", "nothing breaks"),
        ("trigger", "nothing says that something is wrong"),
        ("grant", "the agent may do nothing"),
        ("solution", "nothing proves that it can be solved"),
    ),
    "ciso": (("grant", "the agent may do nothing"), ("solution", "nothing proves that it can be solved")),
    "finops": (
        ("fault", "nothing costs too much"),
        ("trigger", "nothing says that something is wrong"),
        ("grant", "the agent may do nothing"),
        ("solution", "nothing proves that it can be solved"),
    ),
}


def parts(scenario: Entry, sink: Sink) -> None:
    """Report parts that are missing."""
    metadata = scenario.child("metadata")
    persona = metadata.get("persona") if metadata is not None else None
    if persona is None or scenario.damaged:
        return
    for kind, why in _NEEDED[persona]:
        if not scenario.children(kind) and kind not in scenario.broken:
            sink.report(
                codes.WITHOUT_PART, scenario.header, f"there is no `{kind}`: {why}", help=f"add a `{kind}` block"
            )
    truth = scenario.child("truth")
    if persona != "ciso" and truth is not None and not truth.damaged:
        for name in ("root_causes", "chain"):
            if name not in truth.names and name not in truth.broken:
                sink.report(
                    codes.WITHOUT_PART, truth.header, f"the truth has no `{name}`", help=f"add `{name} = [ … ]`"
                )
        _solved(scenario, truth, sink)
    trigger = scenario.child("trigger")
    if trigger is not None and not trigger.blocks and not trigger.damaged and not trigger.broken:
        sink.report(codes.WITHOUT_PART, trigger.header, "nothing is expected here", help='add an `alert "NAME" { … }`')


def _solved(scenario: Entry, truth: Entry, sink: Sink) -> None:
    """A solution does something, unless there is nothing to be done."""
    solution = scenario.child("solution")
    if solution is None or solution.blocks or solution.damaged or "step" in solution.broken:
        return
    causes = truth.value("root_causes")
    if causes is not None and (truth.items("root_causes") or not causes.complete):
        sink.report(
            codes.MISSING_BLOCK,
            solution.header,
            "`solution` needs a block `step`",
            secondary=((causes.span, "this is to be repaired"),),
            help='add `step "NAME" { … }`, or write `root_causes = []` where nothing is broken',
        )
