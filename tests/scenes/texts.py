"""Random texts of the language for Hypothesis: right ones, and right ones with something broken in them."""

from __future__ import annotations

import re

from hypothesis import strategies as st

IDENT = st.from_regex(r"[a-z_][a-z0-9_]{0,6}(-[a-z0-9]{1,3})?", fullmatch=True).filter(
    lambda word: word not in ("true", "false", "null", "for")
)
_INVISIBLE = ("Cs", "Cc", "Cf", "Zl", "Zp", "Co", "Cn")
_CHARS = st.characters(codec="utf-8", exclude_categories=_INVISIBLE, exclude_characters='"\\$%')
_PIECES = st.sampled_from(["\\n", '\\"', "\\\\", "\\u00e9", "$${x}", "%%{if y}", "$ ", "% ", " {", "}", " ", "'"])
STRING = st.lists(st.one_of(_CHARS, _PIECES), max_size=8).map(lambda parts: '"' + "".join(parts) + '"')
NUMBER = st.one_of(st.integers(0, 10**6).map(str), st.sampled_from(["0.5", "1.0e3", "12.25", "1.5E-2"]))
GAP = st.sampled_from(["", " ", "  ", "\t"])
COMMENT_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=_INVISIBLE), max_size=12)
OPERATOR = st.sampled_from(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"])


def _listed(items: list[str], gap: str, *, broken_lines: bool) -> str:
    if not items:
        return f"[{gap}]"
    if broken_lines:
        return "[\n" + "".join(f"{gap}{item},\n" for item in items) + "]"
    return f"[{gap}{(gap + ',' + gap).join(items)}]"


def _mapped(items: list[tuple[str, str]], gap: str, *, broken_lines: bool) -> str:
    unique = list(dict(items).items())
    pairs = [f"{key}{gap}={gap}{value}" for key, value in unique]
    if broken_lines:
        return "{\n" + "".join(f"{pair}\n" for pair in pairs) + "}"
    return "{ " + f"{gap}, ".join(pairs) + " }" if pairs else "{}"


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(_listed, st.lists(inner, max_size=3), GAP, broken_lines=st.booleans()),
        st.builds(_mapped, st.lists(st.tuples(IDENT, inner), max_size=3), GAP, broken_lines=st.booleans()),
        st.builds("{} {} {}".format, inner, OPERATOR, inner),
        st.builds("({}{}{})".format, GAP, inner, GAP),
        st.builds("!{}({})".format, GAP, inner),
        st.builds("-{}{}".format, GAP, st.one_of(NUMBER, IDENT)),
        st.builds("{}{}?{}{}{}:{}{}".format, inner, GAP, GAP, inner, GAP, GAP, inner),
        st.builds("{}({}{},{})".format, IDENT, GAP, inner, inner),
    )


VALUE = st.recursive(
    st.one_of(
        STRING,
        NUMBER,
        st.sampled_from(["true", "false", "null"]),
        st.lists(IDENT, min_size=1, max_size=3).map(".".join),
    ),
    _compound,
    max_leaves=6,
)
ATTRIBUTE = st.builds("{}{}={}{}".format, IDENT, GAP, GAP, VALUE)
REMARK = st.one_of(
    COMMENT_TEXT.map(lambda text: "# " + text),
    COMMENT_TEXT.map(lambda text: "//" + text),
    COMMENT_TEXT.map(lambda text: "/* " + text.replace("*/", "") + " */"),
)


def _with_remark(line: str, remark: str | None) -> str:
    return line if remark is None else f"{line} {remark}"


def _distinct(lines: list[str]) -> list[str]:
    """The lines without a second attribute of the same name, which HCL refuses."""
    kept: dict[str, str] = {}
    for index, line in enumerate(lines):
        name = re.match(r"([\w-]+)[ \t]*=", line)
        kept.setdefault(name[1] if name else f"line {index}", line)
    return list(kept.values())


def _block(kind: str, labels: list[str], gap: str, lines: list[str]) -> str:
    header = " ".join([kind, *(f'"{label}"' for label in labels)]) + gap + "{"
    return header + "\n" + "\n".join(_distinct(lines)) + "\n}" if lines else header + gap + "}"


LINE = st.one_of(st.builds(_with_remark, ATTRIBUTE, st.none() | REMARK), REMARK, st.just(""))
BLOCK = st.recursive(
    st.builds(_block, IDENT, st.lists(IDENT, max_size=2), GAP, st.lists(LINE, max_size=4)),
    lambda inner: st.builds(
        _block, IDENT, st.lists(IDENT, max_size=2), GAP, st.lists(st.one_of(LINE, inner), max_size=4)
    ),
    max_leaves=4,
)
TEXT = st.lists(st.one_of(LINE, BLOCK), max_size=5).map(lambda lines: "\n".join(_distinct(lines)) + "\n")
"""Texts without syntax errors."""

NOISE = st.sampled_from(
    [*"{}[]()=\"',.:;#/*\n \t\\$%<>&|!?-+0a\0é\ufeff\u2028", "${", "/*", "*/", "<<EOT", '"x" {', "45m", "\r\n"]
)


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A right text in which some stretches are gone, doubled or replaced by noise."""
    text = draw(TEXT)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 5))
        text = text[:at] + draw(st.sampled_from(["", text[at : at + length] * 2])) + draw(NOISE) + text[at + length :]
    return text
