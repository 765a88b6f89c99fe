from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itbc.dsl.diagnostics import Sink
from itbc.dsl.dump import dump_tree
from itbc.dsl.format import format_file, format_text
from itbc.dsl.parsing import parse
from itbc.dsl.render import machine, text
from itbc.dsl.source import SourceFile, Span
from itbc.dsl.structure import structure
from itbc.dsl.syntax import Block, Comment, File

QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def read(source: str) -> tuple[File, Sink]:
    sink = Sink()
    return parse(SourceFile("x.itb", source), sink), sink


def meaning(node: Any) -> Any:
    """A tree without places, and with comments by their text."""
    if isinstance(node, Span):
        return None
    if isinstance(node, Comment):
        return node.text.rstrip()
    if isinstance(node, tuple):
        return [meaning(item) for item in node]
    if is_dataclass(node):
        return type(node).__name__, [
            meaning(getattr(node, each.name)) for each in fields(node) if each.name != "source"
        ]
    return node


def spans(node: Any) -> list[Span]:
    if isinstance(node, Span):
        return [node]
    if isinstance(node, tuple):
        return [span for item in node for span in spans(item)]
    if is_dataclass(node) and not isinstance(node, SourceFile):
        return [span for each in fields(node) for span in spans(getattr(node, each.name))]
    return []


@QUICK
@given(texts.TEXT)
def test_right_texts_have_no_mistakes(source: str):
    file, sink = read(source)
    assert [diagnostic.labels[0].message for diagnostic in sink.diagnostics] == []
    assert not file.damaged


@QUICK
@given(texts.TEXT)
def test_laying_out_twice_changes_nothing_more(source: str):
    once = format_file(read(source)[0])
    assert format_text(once) == once


@QUICK
@given(texts.TEXT)
def test_layout_keeps_the_tree_and_the_comments(source: str):
    before = read(source)[0]
    after = read(format_file(before))[0]
    assert meaning(after) == meaning(before)


@QUICK
@given(st.one_of(texts.broken(), st.text(max_size=60)))
def test_the_parser_never_raises_and_says_when_it_lost_something(source: str):
    file, sink = read(source)
    assert file.damaged == bool(sink.errors)
    structure(file, sink)
    dump_tree(file)
    assert text.render(sink.diagnostics).count("docs/diagnostics") == bool(sink.diagnostics)
    assert machine.report(sink.diagnostics).errors == sink.errors


@QUICK
@given(st.one_of(texts.broken(), texts.TEXT))
def test_every_place_lies_in_the_file(source: str):
    file, sink = read(source)
    places = spans(file.body) + spans(file.comments)
    places += [label.span for diagnostic in sink.diagnostics for label in diagnostic.labels]
    places += [edit.span for diagnostic in sink.diagnostics if diagnostic.fix for edit in diagnostic.fix.edits]
    for span in places:
        assert 0 <= span.start <= span.end <= len(source)


def _inside(outer: Block) -> bool:
    return all(
        outer.span.start <= item.span.start <= item.span.end <= outer.span.end
        and (not isinstance(item, Block) or _inside(item))
        for item in outer.body.items
    )


@QUICK
@given(st.one_of(texts.broken(), texts.TEXT))
def test_what_is_in_a_block_lies_inside_it(source: str):
    file, _ = read(source)
    assert all(_inside(item) for item in file.body.items if isinstance(item, Block))


@QUICK
@given(texts.TEXT, st.data())
def test_one_broken_attribute_costs_only_itself(source: str, data: st.DataObject):
    lines = source.splitlines(keepends=True)
    at = data.draw(st.sampled_from([i for i, depth in enumerate(_depths(lines)) if depth == 0] or [0]))
    broken = "".join([*lines[:at], "wrong = = 1\n", *lines[at:]])
    before, _ = read(source)
    file, sink = read(broken)
    assert [diagnostic.code.id for diagnostic in sink.diagnostics] == ["ITB101"]
    assert len(file.body.items) == len(before.body.items) + 1


def _depths(lines: list[str]) -> list[int]:
    """For each line whether it begins at the top of the file (0) or inside something (1)."""
    depths: list[int] = []
    for index in range(len(lines)):
        file, sink = read("".join(lines[:index]))
        depths.append(0 if not sink.errors and not file.damaged else 1)
    return depths
