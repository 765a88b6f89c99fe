"""Parts of the language whose meaning isn't checked yet: said clearly, once for each place, never passed over."""

from __future__ import annotations

from itbc.dsl import codes
from itbc.dsl.diagnostics import Sink
from itbc.dsl.entries import Entry

_HELP = "itbc reads this part of the language, but can't compile it yet; README.md says what works"


def availability(entry: Entry, sink: Sink) -> bool:
    """Report every block and attribute that can't be checked yet; whether there is none."""
    good = True
    for name, place in entry.names.items():
        known = entry.schema.attribute(name)
        if known is not None and not known.checked:
            good = False
            sink.report(
                codes.NOT_AVAILABLE,
                place.span,
                f"what `{name}` means in `{entry.schema.type}` isn't checked yet",
                help=_HELP,
            )
    for block in entry.blocks:
        if not block.schema.checked:
            good = False
            sink.report(
                codes.NOT_AVAILABLE,
                block.header,
                f"what is in `{block.schema.type}` is only checked for its form",
                help=_HELP,
            )
        elif not availability(block, sink):
            good = False
    return good
