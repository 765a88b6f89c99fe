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

A *kind* is what a `fault` block names; a *family* is one file in `providers/faults/` with one kind or a few that are
alike, found by itself. It defines `FAULTS`, a tuple of `FaultKind` (`dsl/catalogue.py`), each of pure functions of a
request (the object it aims at, as declared, the parameters, and `around`: all declared objects of the cluster):

- `problems`: why it can't work, with the parameter to point at and what to do instead. Whatever odd `spec` the object
  has, the answer is a problem, never an exception;
- `touches`: the parts of objects it changes, as JSON Pointers; the empty one is an object it creates;
- `changes`: how, as JSON patches that the API server refuses where the live object isn't the declared one any more: a
  `test` before each change. A field that the API server fills in where it isn't declared has the value it fills in;
- `effect`: conditions on live objects that prove it (not that it was asked for: that it has happened), and others that
  say when it is over. A condition takes one object by `name` or all that have `labels`. All of the proof together must
  be false where there is no object at all and where everything is healthy. `steady_seconds` is for what looks the same
  at first and passes.

`providers/faults/objects/` has the usual parts: `pod_template.py` (containers, selectors, who else is declared),
`conditions.py` (rolled out, no endpoints, what a container is told), `variables.py`, `example.py` (a Deployment, a
Service, a store and the load to make an `example` of). `image.py` is a short family to read first, `service.py` one
whose target isn't a workload, `scale.py` one that changes no container, `network_policy.py` one that creates an object.

`example` is a request that works: the page is made from it, and `tests/unit/faults/test_contract.py` holds every kind
to its contract by it. What is particular to the kind goes into `tests/unit/faults/test_FILE.py` (`fault_scene` has what
such tests need). A parameter that decides how bad it gets says so in `severity`. Then, after `make setup`:

    .venv/bin/python -m itbc.providers.faults.pages    # write the pages
    .venv/bin/pytest tests/unit/faults                 # the contract, and what is particular to the kind

and [a scenario](../scenarios.md) that uses it, with mutants of its solution, as root:

    .venv/bin/itbc verify scenarios/sre/NAME
    .venv/bin/pytest -m e2e tests/e2e/test_fault_families.py -k NAME    # a restart doesn't heal it"""
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
        *_parameters(kind),
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


def _parameters(kind: FaultKind) -> list[str]:
    if not kind.parameters:
        return ["None: the target says it all."]
    return [
        "| name | type | needed | meaning |",
        "|---|---|---|---|",
        *[_row(parameter) for parameter in kind.parameters],
    ]


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
