from __future__ import annotations

import msgspec
import pytest

from itbc.dsl import codes
from itbc.dsl.diagnostics import Edit, Fix, Sink, listing, nearest, replace
from itbc.dsl.render import machine
from itbc.dsl.render.text import WIDEST, render
from itbc.dsl.source import SourceFile, Span


def place(source: SourceFile, text: str) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text))


def test_codes_and_slugs_are_unique_and_well_formed():
    assert list(codes.CODES) == sorted(codes.CODES)
    assert len({code.slug for code in codes.CODES.values()}) == len(codes.CODES)
    for code in codes.CODES.values():
        assert code.id.startswith("ITB")
        assert code.slug.replace("-", "").isalpha()
        assert not code.headline.endswith(".")


def test_the_order_is_by_file_and_place_and_not_by_time_and_nothing_is_said_twice():
    first, second = SourceFile("a.itb", "one two"), SourceFile("b.itb", "three")
    sink = Sink()
    sink.report(codes.UNKNOWN_NAME, place(second, "three"), "c")
    sink.report(codes.UNKNOWN_NAME, place(first, "two"), "b")
    sink.report(codes.IMAGE_UNUSED, place(first, "one"), "a")
    sink.report(codes.UNKNOWN_NAME, place(first, "two"), "b")
    assert [found.labels[0].message for found in sink.diagnostics] == ["a", "b", "c"]
    assert sink.errors == 2


def test_text_shows_the_lines_the_marks_and_the_remedy():
    source = SourceFile("dir/x.itb", 'a = 1\n\n\n\tb = "längst" # x\nc = 2\n')
    sink = Sink()
    sink.report(
        codes.UNKNOWN_NAME,
        place(source, "längst"),
        "here",
        secondary=[(place(source, "a"), "and here")],
        help="do it",
        notes=["why"],
    )
    assert render(sink.diagnostics) == (
        "error[ITB405]: unknown name\n"
        " --> dir/x.itb:4:7\n"
        "  |\n"
        "1 | a = 1\n"
        "  | - and here\n"
        "...\n"
        '4 |     b = "längst" # x\n'
        "  |          ^^^^^^ here\n"
        "  = note: why\n"
        "  = help: do it\n"
        "\n"
        "1 error in 1 file; docs/diagnostics/ explains each code\n"
    )


def test_marks_stand_under_wide_characters_and_at_the_end_of_the_file():
    source = SourceFile("x.itb", 'a = "日本" b')
    sink = Sink()
    sink.report(codes.UNKNOWN_NAME, place(source, "b"), "here")
    sink.report(codes.UNCLOSED_BLOCK, Span(source, len(source.text), len(source.text)), "end")
    lines = render(sink.diagnostics).splitlines()
    assert "  |            ^ here" in lines
    assert "  |             ^ end" in lines


def test_a_long_line_is_cut_around_the_place():
    source = SourceFile("x.itb", "a = " + "x" * 500 + "y" + "z" * 500)
    sink = Sink()
    sink.report(codes.UNKNOWN_NAME, place(source, "y"), "here")
    lines = render(sink.diagnostics).splitlines()
    shown, mark = lines[3], lines[4]
    assert shown[mark.index("^")] == "y"
    assert len(shown) <= WIDEST + 10
    assert shown.count("…") == 2


def test_invisible_characters_are_shown_and_cannot_move_the_cursor():
    source = SourceFile("x.itb", "a = \x1b[31m\u2028b")
    sink = Sink()
    sink.report(codes.UNEXPECTED_CHARACTER, place(source, "b"), "bad \x07 thing", help="\x1b]0;")
    shown = render(sink.diagnostics)
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert "⟨001b⟩" in shown


def test_nothing_is_rendered_as_nothing():
    assert render([]) == ""


def test_json_is_versioned_sorted_and_has_every_part():
    source = SourceFile("x.itb", "a = 1\nb = 2\n")
    span = place(source, "2")
    sink = Sink()
    sink.report(codes.UNKNOWN_NAME, span, "here", help="help", fix=Fix("change it", (Edit(span, "3"),)))
    written = machine.render(sink.diagnostics, ["x.itb: fine"])
    report = msgspec.json.decode(written, type=machine.Report)
    assert report.version == "itbc.diagnostics/1"
    assert (report.errors, report.warnings, report.checked) == (1, 0, ["x.itb: fine"])
    found = report.diagnostics[0]
    assert (found.code, found.slug, found.severity) == ("ITB405", "unknown-name", "error")
    start = found.labels[0].place.start
    assert (start.line, start.column, start.offset) == (2, 5, 10)
    assert found.fix is not None
    assert found.fix.edits[0].replacement == "3"
    assert list(msgspec.json.decode(written)) == sorted(msgspec.json.decode(written))


def test_colours_are_asked_for_by_role():
    source = SourceFile("x.itb", "a = 1")
    sink = Sink()
    sink.report(codes.UNKNOWN_NAME, place(source, "1"), "here")
    shown = render(sink.diagnostics, lambda text, role: f"<{role}>{text}</>")
    assert "<error>error[ITB405]</>" in shown
    assert "<error>^ here</>" in shown


@pytest.mark.parametrize(
    ("wrong", "known", "near"),
    [
        ("chekout", ["checkout", "payment"], "checkout"),
        ("Checkout", ["checkout"], "checkout"),
        ("x", ["checkout"], None),
        ("a", [], None),
    ],
)
def test_the_nearest_name(wrong: str, known: list[str], near: str | None):
    assert nearest(wrong, known) == near


def test_listings_are_sorted_and_cut():
    assert listing(["b", "a", "b"]) == "`a`, `b`"
    assert listing([str(i) for i in range(20)], limit=2) == "`0`, `1` and 18 more"


def test_a_replacement_says_what_it_does():
    source = SourceFile("x.itb", "ab")
    assert replace(Span(source, 0, 1), "c").title == "replace `a` by `c`"
    assert replace(Span(source, 1, 1), "c").title == "insert `c`"
