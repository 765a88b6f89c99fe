"""`check`: a file and everything it imports → the checked scenario, with all mistakes at once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from itbc.dsl import codes
from itbc.dsl.catalogue import Catalogue
from itbc.dsl.check.application import application
from itbc.dsl.check.availability import availability
from itbc.dsl.check.context import AppFacts, Shared
from itbc.dsl.check.definitions import alert_rule, slo
from itbc.dsl.check.desired import desired
from itbc.dsl.check.environment import environment
from itbc.dsl.check.faults import faults
from itbc.dsl.check.parts import parts
from itbc.dsl.check.solution import grants, mutants, solution
from itbc.dsl.check.triggers import triggers
from itbc.dsl.check.truth import truth
from itbc.dsl.diagnostics import Sink
from itbc.dsl.entries import Entry
from itbc.dsl.loading import Loaded, Loader, Read, read_text
from itbc.dsl.model import Environment, Metadata, Scenario
from itbc.dsl.names import Names
from itbc.dsl.source import Span


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a file and everything it imports.

    `file` is None where it couldn't be read, `scenario` where there is none or there were `errors`.
    """

    file: Loaded | None
    scenario: Scenario | None
    errors: int


def check(path: Path, catalogue: Catalogue, sink: Sink, read: Read = read_text) -> Scenario | None:
    """The scenario of a file, or None where there is none or an error was reported.

    `path` is shown in messages as it is given. `read` reads a text file and may raise OSError or UnicodeDecodeError.
    """
    checked = check_file(path, catalogue, sink, read)
    if checked.file is not None and checked.file.entry.child("scenario") is None and not checked.file.entry.damaged:
        start = Span(checked.file.source, 0, 0)
        sink.report(
            codes.NO_SCENARIO,
            start,
            "this file declares no scenario",
            help='add a `scenario "NAME" { … }`, or name another file',
        )
    return checked.scenario


def check_file(path: Path, catalogue: Catalogue, sink: Sink, read: Read = read_text) -> Checked:
    """Check a file that need not hold a scenario, everything it imports, and the scenario where it has one."""
    own = Sink()  # what other files have said before may be said again: only this file's errors count for it
    loaded, applications, shared = _declarations(path, catalogue, own, read)
    entry = loaded.entry.child("scenario") if loaded is not None else None
    scenario = _scenario(entry, applications, shared) if entry is not None else None
    if loaded is not None:
        availability(loaded.entry, own)
    for diagnostic in own.diagnostics:
        sink.add(diagnostic)
    return Checked(loaded, scenario if not own.errors else None, own.errors)


def _declarations(
    path: Path, catalogue: Catalogue, sink: Sink, read: Read
) -> tuple[Loaded | None, dict[str, AppFacts], Shared]:
    """Read a file and what it imports, and check everything they declare."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow links, and messages would name other files
    loader = Loader(sink, read, absolute.parent, str(path.parent))
    order = loader.load(absolute)
    names = Names(damaged=loader.damaged)
    shared = Shared(sink, names, loader, catalogue)
    for loaded in order:
        names.add(loaded, sink)
    applications = {label: application(declaration, shared) for label, declaration in names.of("application").items()}
    for declaration in names.of("alert").values():
        alert_rule(declaration.entry)
    for declaration in names.of("slo").values():
        slo(declaration.entry)
    own = order[-1] if order and order[-1].path == absolute else None
    return own, applications, shared


def _scenario(entry: Entry, applications: dict[str, AppFacts], shared: Shared) -> Scenario | None:
    parts(entry, shared.sink)
    place = entry.child("environment")
    if place is None:
        return None
    world = environment(place, applications, shared)
    found, all_faults = faults(entry, world, shared)
    expected = triggers(entry, world, shared)
    outcome = desired(entry, world, shared)
    why = truth(entry, world, found, expected, shared, all_faults=all_faults)
    granted = grants(entry, world, shared)
    steps = solution(entry, world, shared)
    wrong = mutants(entry, world, shared)
    metadata = _metadata(entry)
    if metadata is None or outcome is None or why is None:
        return None
    clusters = tuple(facts.cluster for facts in world.clusters.values())
    return Scenario(
        entry.label,
        metadata,
        Environment(clusters, (), place.header),
        tuple(found),
        tuple(expected),
        outcome,
        why,
        tuple(steps),
        tuple(wrong),
        tuple(granted),
        entry.header,
    )


def _metadata(entry: Entry) -> Metadata | None:
    block = entry.child("metadata")
    if block is None:
        return None
    title, persona = block.value("title"), block.value("persona")
    if title is None or persona is None:
        return None
    return Metadata(title.data, persona.data, block.get("description", ""), block.header)
