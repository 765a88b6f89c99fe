"""Each page as text."""

from __future__ import annotations

import json
from collections.abc import Mapping

from itbc.dsl.catalogue import Catalogue, Change, FaultKind, Parameter
from itbc.dsl.values import show_duration

_MADE = "<!-- Made by `python -m itbc.providers.faults.pages` from the fault's declaration: change that, not this. -->"
_INTRODUCTION = (
    "What a scenario's `fault` blocks can break. Each is saved before it is made, proven afterwards, and can be undone"
    " by any process that has the undo record; see [decision 0002](../decisions/0002-faults-leave-no-trace.md)."
)
_GUIDE = """\
## Adding one

A family is one file in `providers/faults/`, found by itself. It defines `FAULTS`, a tuple of `FaultKind`
(`dsl/catalogue.py`), each of pure functions of a request (the object it aims at, as declared, and the parameters):

- `problems`: why it can't work, with the parameter to point at and what to do instead;
- `touches`: the parts of objects it changes, as JSON Pointers; the empty one is an object it creates;
- `changes`: how, as JSON patches that the API server refuses where the live object isn't the declared one any more;
- `effect`: conditions on live objects that prove it (not that it was asked for: that it has happened), and others that
  say when it is over. `providers/faults/objects/` has the usual ones.

`example` is a request that works: the page is made from it, and `tests/unit/faults/test_contract.py` holds every kind
to its contract by it. A parameter that decides how bad it gets says so in `severity`. Then:

    python -m itbc.providers.faults.pages      # write the pages
    pytest tests/unit/faults                   # the contract, and what is particular to the kind
    itbc verify scenarios/sre/NAME             # a scenario that uses it, with mutants of its solution
    pytest -m e2e tests/e2e/test_fault_families.py    # every shipped scenario's faults: not healed by restarts"""
_MIB = 2**20


def pages(known: Catalogue) -> Mapping[str, str]:
    """The text of every page by its file name."""
    made = {f"{kind.kind}.md": page(kind) for kind in known.faults.values()}
    return {"README.md": index(known), **made}


def index(known: Catalogue) -> str:
    """The list of all fault kinds."""
    rows = [f"| [`{kind.kind}`]({kind.kind}.md) | {kind.summary} |" for kind in known.faults.values()]
    lines = [
        "# Faults",
        "",
        _MADE,
        "",
        _INTRODUCTION,
        "",
        "| kind | what breaks |",
        "|---|---|",
        *rows,
        "",
        _GUIDE,
    ]
    return "\n".join(lines) + "\n"


def page(kind: FaultKind) -> str:
    """The page of one fault kind."""
    effect = kind.effect(kind.example)
    steady = f", for {effect.steady_seconds:g} s without a gap" if effect.steady_seconds else ""
    touches = [
        f"- {touch.kind} `{touch.name}`: "
        + (f"`{touch.pointer}`" if touch.pointer else "the whole object, which is new")
        for touch in kind.touches(kind.example)
    ]
    lines = [
        f"# `{kind.kind}`",
        "",
        _MADE,
        "",
        kind.summary,
        "",
        kind.doc,
        "",
        "**What can be seen.** " + kind.shows,
        "",
        "**Aims at** " + ", ".join(f"`{target}`" for target in sorted(kind.targets)) + ".",
        "",
        "## Parameters",
        "",
        "| name | type | needed | meaning |",
        "|---|---|---|---|",
        *[_row(parameter) for parameter in kind.parameters],
        "",
        *_severity(kind),
        "## Example",
        "",
        "```hcl",
        *_block(kind),
        "```",
        "",
        "changes these parts, "
        + (
            "of which none is a root cause, because nothing is broken:"
            if kind.benign
            else "which are what a repair may change and what must be named as root cause:"
        ),
        "",
        *touches,
        "",
        "by",
        "",
        "```json",
        *[json.dumps(_shown(change), indent=2) for change in kind.changes(kind.example)],
        "```",
        "",
        f"It is proven, within {effect.within_seconds:g} s{steady}, by all of:",
        "",
        *[f"- {condition.what}" for condition in effect.proof],
        "",
        "Undone, it is over when:",
        "",
        *[f"- {condition.what}" for condition in effect.recovery],
    ]
    return "\n".join(lines) + "\n"


def _row(parameter: Parameter) -> str:
    bounds = [
        f"{word} {_value(bound, parameter)}"
        for word, bound in (("at least", parameter.minimum), ("at most", parameter.maximum))
        if bound is not None
    ]
    meaning = parameter.doc + (f" It is {' and '.join(bounds)}." if bounds else "")
    return f"| `{parameter.name}` | {parameter.type} | {'yes' if parameter.required else 'no'} | {meaning} |"


def _severity(kind: FaultKind) -> list[str]:
    decisive = [parameter for parameter in kind.parameters if parameter.severity]
    return [line for each in decisive for line in (f"**Severity** is `{each.name}`: {each.severity}.", "")]


def _block(kind: FaultKind) -> list[str]:
    example = kind.example
    target = f"cluster.{example.cluster}.{example.target_kind.lower()}.{example.target_name}"
    types = {parameter.name: parameter for parameter in kind.parameters}
    attributes = {
        "kind": kind.kind,
        "target": target,
        **{name: _value(value, types[name]) for name, value in example.parameters.items()},
    }
    width = max(map(len, attributes))
    return [
        'fault "example" {',
        *[f"  {name.ljust(width)} = {value}" for name, value in attributes.items()],
        "}",
    ]


def _value(value: object, parameter: Parameter) -> str:
    """A parameter's value as it is written in a scenario."""
    match parameter.type, value:
        case "quantity", (int() | float()) as amount:
            return f'"{int(amount) // _MIB}Mi"' if int(amount) % _MIB == 0 else f'"{int(amount)}"'
        case "duration", (int() | float()) as seconds:
            return f'"{show_duration(float(seconds))}"'
        case _, float() as number:
            return f"{number:g}"
        case _:
            return json.dumps(value)


def _shown(change: Change) -> object:
    return change.created if change.created is not None else [dict(operation) for operation in change.patch]
