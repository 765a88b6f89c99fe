from __future__ import annotations

import base64
import itertools
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itbc.contracts.answer import Answer, Cause
from itbc.runner.sandbox.redaction import SHORTEST, Redaction

KEY = 'sk-"7/ü+kx\n0'
LENT = {"MODEL_KEY": KEY, "OTHER_KEY": "sk-abcdefgh", "LONGER_KEY": "sk-abcdefgh-ij", "LEVEL": "debug"}
REDACTION = Redaction.of(LENT)


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        json.dumps(KEY)[1:-1].replace("/", "\\/"),
        quote(KEY),
        quote(KEY, safe=""),
        base64.b64encode(KEY.encode()).decode(),
    ],
)
def test_a_value_is_found_in_every_usual_form(written: str) -> None:
    assert REDACTION.text(f"a{written}b").rstrip("=") in {"a[MODEL_KEY]b", "a[MODEL_KEY]==b", "a[MODEL_KEY]=b"}


def test_a_value_in_a_value_is_the_longer_one() -> None:
    assert REDACTION.text("sk-abcdefgh-ij sk-abcdefgh sk-abcdefgh-i.") == "[LONGER_KEY] [OTHER_KEY] [OTHER_KEY]-i."


def test_what_is_short_stays() -> None:
    assert len("debug") < SHORTEST
    assert REDACTION.text("debug") == "debug"


def test_nothing_lent_changes_nothing() -> None:
    assert Redaction().data(b"sk-abcdefgh") == b"sk-abcdefgh"
    assert Redaction().stream().feed(b"sk-") == b"sk-"


def test_what_begins_no_value_is_said_at_once() -> None:
    stream = REDACTION.stream()
    assert stream.feed(b"working") == b"working"
    assert stream.feed(b" on sk-abc") == b" on "
    assert stream.feed(b"k") == b"sk-abck"


def test_a_value_that_is_cut_off_at_the_end_is_one() -> None:
    stream = REDACTION.stream()
    assert stream.feed(b'my key is sk-"7/') == b"my key is "
    assert stream.rest() == b"[MODEL_KEY]"
    assert stream.feed(b"ask") + stream.rest() == b"ask"


TEXTS = st.lists(
    st.sampled_from([b"sk-", b"sk-abcdefgh", b"-ij", b"-i", b"abcdefgh", b" ", b"x", KEY.encode(), KEY.encode()[:7]])
).map(b"".join)


@given(TEXTS, st.lists(st.integers(0, 200)))
def test_however_it_comes_in_pieces_no_value_is_said(text: bytes, cuts: list[int]) -> None:
    stream = REDACTION.stream()
    places = [0, *sorted(min(each, len(text)) for each in cuts), len(text)]
    said = b"".join(stream.feed(text[a:b]) for a, b in itertools.pairwise(places)) + stream.rest()
    assert not any(value.encode() in said for name, value in LENT.items() if name != "LEVEL")
    # And the same is said whatever the pieces are.
    assert said == REDACTION.data(text)


def test_in_data_it_is_found_in_texts_only() -> None:
    redaction = Redaction.of({"PIN": "12345678"})
    answer = Answer(root_causes=[Cause(kind="Deployment", name="12345678")], explanation="the pin is 12345678.")
    assert redaction.shape(answer) == Answer(
        root_causes=[Cause(kind="Deployment", name="[PIN]")], explanation="the pin is [PIN]."
    )
