from __future__ import annotations

from typing import Any

import pytest

from itbc.dsl.computing import fold, plain
from itbc.dsl.diagnostics import Sink
from itbc.dsl.parsing import MAX_DEPTH, MAX_ERRORS, parse
from itbc.dsl.source import SourceFile
from itbc.dsl.syntax import Attribute, Block, Body, File, Invalid, String


def read(text: str) -> tuple[File, list[str]]:
    sink = Sink()
    file = parse(SourceFile("x.itb", text), sink)
    return file, [
        f"{found.code.id} {':'.join(map(str, found.span.source.position(found.span.start)))}"
        for found in sink.diagnostics
    ]


def outline(body: Body) -> list[Any]:
    """Names of attributes (with `?` where the value is invalid), and of blocks with what is in them."""
    found: list[Any] = []
    for item in body.items:
        if isinstance(item, Attribute):
            found.append(item.name.text + ("?" if isinstance(item.value, Invalid) else ""))
        else:
            found.append({item.type.text: outline(item.body)})
    return found


@pytest.mark.parametrize(
    ("text", "codes", "left"),
    [
        ("a = \nb = 1\n", ["ITB101 1:5"], ["a?", "b"]),
        ("a = 1 2\nb = 1\n", ["ITB101 1:7"], ["a?", "b"]),
        ("= 1\nb = 1\n", ["ITB101 1:1"], ["b"]),
        ("a b = 1\nc = 1\n", ["ITB101 1:5"], ["c"]),
        ("a = [1\nb = 1\n", ["ITB106 1:5"], ["a?", "b"]),
        ("a = [\n  1,\n  2\nb = 1\n", ["ITB106 1:5"], ["a?", "b"]),
        ("a = {\n  b = 1\nc {\n}\nd = 1\n", ["ITB106 1:5"], ["a?", {"c": []}, "d"]),
        ("a = (1 + 2\nb = 1\n", ["ITB106 1:5"], ["a?", "b"]),
        ("x {\n  a = )\n  b = 1\n}\nc = 1\n", ["ITB101 2:7"], [{"x": ["a?", "b"]}, "c"]),
        ("x {\n  a = }\nc = 1\n", ["ITB101 2:7"], [{"x": ["a?"]}, "c"]),
        ("x { a = 1, b = 2 }\nc = 1\n", ["ITB108 1:10"], ["c"]),
        ("x { a { } }\nc = 1\n", ["ITB101 1:7"], ["c"]),
        ('x "y {\n  a = 1\n}\nc = 1\n', ["ITB102 1:3"], [{"x": ["a"]}, "c"]),
        ('x = "y\nc = 1\n', ["ITB102 1:5"], ["x?", "c"]),
        ("x y z {\n  a = 1\n}\nc = 1\n", ["ITB109 1:3", "ITB109 1:5"], [{"x": ["a"]}, "c"]),
        ("x [1] {\n  a = 1\n}\nc = 1\n", ["ITB101 1:3"], [{"x": ["a"]}, "c"]),
        ("}\nc = 1\n", ["ITB107 1:1"], ["c"]),
        ("x {\n  a = 1\n", ["ITB105 1:3"], [{"x": ["a"]}]),
        ("x {\n  y {\n    a = 1\n  z = 1\n}\nc = 1\n", ["ITB105 2:5"], [{"x": [{"y": ["a"]}, "z"]}, "c"]),
        ("x {\n  y {\n    a = 1\n}\nc = 1\n", ["ITB105 2:5"], [{"x": [{"y": ["a"]}]}, "c"]),
        ("x {\n  a = 1\n  }\n  b = 2\n}\nc = 1\n", ["ITB107 3:3"], [{"x": ["a", "b"]}, "c"]),
        ("a = 1 /* x\nb = 2\n", ["ITB104 1:7"], ["a?"]),
        ("a = 1; b = 2\nc = 1\n", ["ITB103 1:6"], ["a?", "c"]),
        ("a = “x”\nc = 1\n", ["ITB103 1:5"], ["a?", "c"]),
        ("a = <<EOT\nc = 1\n", ["ITB114 1:5"], ["a?", "c"]),
        ("a = [for x in y : x]\nc = 1\n", ["ITB101 1:10"], ["a?", "c"]),
        ("a = 1 }\nc = 1\n", ["ITB101 1:7"], ["a?", "c"]),
        ("a.b = 1\nc = 1\n", ["ITB101 1:2"], ["c"]),
        ('"a" = 1\nc = 1\n', ["ITB101 1:1"], ["c"]),
        ("a = 01\nb = 1.\nc = 1e3\nd = 1\n", ["ITB117 1:5", "ITB117 2:5", "ITB117 3:5"], ["a?", "b?", "c?", "d"]),
        ("a = 1" + "0" * 400 + "\nb = 1\n", ["ITB117 1:5"], ["a?", "b"]),
    ],
)
def test_one_mistake_is_one_message_and_the_rest_is_read(text: str, codes: list[str], left: list[Any]):
    file, found = read(text)
    assert found == codes
    assert file.damaged
    assert outline(file.body) == left


def test_only_so_many_errors_are_reported():
    _, found = read("=\n" * (MAX_ERRORS * 2))
    assert found.count(f"ITB116 {MAX_ERRORS}:1") == 1
    assert len(found) == MAX_ERRORS + 1


@pytest.mark.parametrize("opener", ["[", "(", "{ a = "])
def test_values_are_nested_only_so_deep(opener: str):
    file, found = read("a = " + opener * (MAX_DEPTH + 10) + "\n")
    assert [code.split()[0] for code in found] == ["ITB115"]
    assert file.damaged


def test_blocks_are_nested_only_so_deep():
    _, found = read("a {\n" * (MAX_DEPTH + 10))
    assert [code.split()[0] for code in found] == ["ITB115"]


def test_operations_hang_on_each_other_only_so_long():
    file, found = read("a = " + "1 + " * 200 + "1\nb = 1\n")
    assert [code.split()[0] for code in found] == ["ITB115"]
    assert outline(file.body) == ["a?", "b"]


def test_escapes():
    file, found = read(r'a = "x\n\t\r\"\\\u00e9\U0001F600$${y}%%{z}$ %"' + "\n")
    assert found == []
    value = file.body.items[0]
    assert isinstance(value, Attribute)
    assert isinstance(value.value, String)
    assert value.value.value == 'x\n\t\r"\\é\U0001f600${y}%{z}$ %'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('"${a}"', "ITB112"),
        ('"%{ if x }"', "ITB112"),
        ('"$$${a}"', "ITB112"),
        ('"${"', "ITB112"),
        ('"$${"', "ITB112"),
        ('"${a["b"]}"', "ITB112"),
        (r'"\q"', "ITB113"),
        (r'"\u12"', "ITB113"),
        (r'"\ud800"', "ITB113"),
        (r'"\UFFFFFFFF"', "ITB113"),
        ('"a\x07"', "ITB119"),
        ("'a'", "ITB111"),
        ("5m", "ITB110"),
        ("1.5Gi", "ITB110"),
        ("for", "ITB101"),
    ],
)
def test_mistakes_in_values(text: str, code: str):
    file, found = read(f"a = {text}\nb = 1\n")
    assert [each.split()[0] for each in found] == [code]
    assert outline(file.body)[1] == "b"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("2 - 1 - 1", 0),
        ("7 % 4", 3),
        ("1 / 4", 0.25),
        ("-(-3)", 3),
        ("1 < 2 && 2 <= 2", True),
        ('1 == 1 ? "a" : "b"', "a"),
        ("!(1 != 1) || false", True),
        ('"a" == "a"', True),
        ('1 == "1"', False),
        ("max(1, 5, 3)", 5),
        ('join("-", ["a", "b"])', "a-b"),
        ("length([1, 2])", 2),
        ('upper("ab")', "AB"),
        ("concat([1], [2, 3])", [1, 2, 3]),
        ("contains([1, 2], 2)", True),
        ('replace("abc", "b", "x")', "axc"),
        ("floor(1.5) + ceil(1.5)", 3),
        ("{ a = 1 + 1 }", {"a": 2}),
    ],
)
def test_constants_are_computed(text: str, value: Any):
    file, found = read(f"a = {text}\n")
    assert found == []
    sink = Sink()
    attribute = file.body.items[0]
    assert isinstance(attribute, Attribute)
    assert plain(fold(attribute.value, sink)) == value
    assert not sink.diagnostics


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 / 0", "ITB308"),
        ("1 % 0", "ITB308"),
        ('1 + "a"', "ITB308"),
        ("!1", "ITB308"),
        ('-"a"', "ITB308"),
        ("1 ? 2 : 3", "ITB308"),
        ("true && 1", "ITB308"),
        ("a.b + 1", "ITB308"),
        ("maxx(1)", "ITB307"),
        ("max()", "ITB308"),
        ('max("a")', "ITB308"),
        ("abs(1, 2)", "ITB308"),
        ('join("", [1])', "ITB308"),
        ("1" + "0" * 250 + " * 1" + "0" * 250, "ITB308"),
    ],
)
def test_what_cannot_be_computed_is_said_once(text: str, code: str):
    file, found = read(f"a = {text}\n")
    assert found == []
    sink = Sink()
    attribute = file.body.items[0]
    assert isinstance(attribute, Attribute)
    assert isinstance(fold(attribute.value, sink), Invalid)
    assert [each.code.id for each in sink.diagnostics] == [code]


def test_comments_are_kept_with_their_places():
    file, _ = read("# a\nx = 1 // b\ny {} /* c\n*/\n")
    assert [comment.text for comment in file.comments] == ["# a", "// b", "/* c\n*/"]
    assert [comment.span.text for comment in file.comments] == [comment.text for comment in file.comments]


def test_a_quoted_part_of_a_reference():
    file, _ = read('a = host.web.file["/etc/motd"]\n')
    attribute = file.body.items[0]
    assert isinstance(attribute, Attribute)
    assert attribute.value.text == "host.web.file./etc/motd"  # type: ignore[union-attr]


def test_a_file_of_one_block():
    file, found = read('a "b" "c" {\n}')
    assert found == []
    block = file.body.items[0]
    assert isinstance(block, Block)
    assert [label.text for label in block.labels] == ["b", "c"]
    assert block.header.text == 'a "b" "c"'
