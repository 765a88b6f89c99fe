"""What an agent can't see of a cluster's telemetry."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from itbc.contracts.mask import KINDS, BadMask, Mask, parse_mask
from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink, listing, nearest, replace
from itbc.dsl.entries import Entry, Value
from itbc.dsl.model import Application, Signal

_COLLECTED: frozenset[str] = frozenset({"alerts", "logs", "metrics", "traces"})
"""What there is only where it is collected."""


def masks(
    telemetry: Entry, signals: Collection[Signal], applications: Sequence[Application] | None, sink: Sink
) -> tuple[Mask, ...]:
    """The masks of a `telemetry` block, in order. Without `applications` nobody's name is called unknown."""
    found = [_mask(item, signals, applications, sink) for item in telemetry.items("masks")]
    return tuple(sorted(mask for mask in found if mask is not None))


def _mask(
    item: Value, signals: Collection[Signal], applications: Sequence[Application] | None, sink: Sink
) -> Mask | None:
    try:
        mask = parse_mask(item.data)
    except BadMask as wrong:
        word, colon, rest = str(item.data).partition(":")
        near = nearest(word, KINDS)
        fix = replace(item.span, f'"{near}{colon}{rest}"') if near and word not in KINDS else None
        sink.report(codes.BAD_MASK, item.span, str(wrong), help=wrong.help, fix=fix)
        return None
    if mask.kind in _COLLECTED and mask.kind not in signals:
        sink.report(
            codes.BAD_MASK,
            item.span,
            f"there are no {mask.kind} to hide: they aren't collected",
            help=f"take the mask away, or collect {mask.kind}",
        )
        return None
    if mask.service and applications is not None:
        names = [component.name for application in applications for component in application.components]
        if mask.service not in names:
            near = nearest(mask.service, names)
            sink.report(
                codes.UNKNOWN_NAME,
                item.span,
                f"there is no component `{mask.service}` in this cluster",
                help=f"did you mean `{near}`?"
                if near
                else f"there {'is' if len(names) == 1 else 'are'} {listing(names)}",
                fix=replace(item.span, f'"{mask.kind}:{near}"') if near else None,
            )
            return None
    return mask
