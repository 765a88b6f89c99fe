from __future__ import annotations

import pytest

from itbc.contracts.mask import BadMask, Mask, joined, parse_mask, split


def test_a_mask_is_read_as_it_is_written() -> None:
    for text in ("alerts", "events", "logs", "logs:payment", "metrics:a-b", "topology", "traces"):
        assert str(parse_mask(text)) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "isn't a kind"),
        ("trace", "isn't a kind"),
        ("traces:", "no service follows"),
        ("alerts:payment", "can't be masked for one service"),
        ("topology:payment", "can't be masked for one service"),
        ("events:payment", "can't be masked for one service"),
    ],
)
def test_what_is_no_mask_is_refused_with_a_remedy(text: str, said: str) -> None:
    with pytest.raises(BadMask, match=said) as wrong:
        parse_mask(text)
    assert wrong.value.help


def test_several_masks_are_one_text_in_order_each_once() -> None:
    masks = [Mask("traces"), Mask("logs", "b"), Mask("logs", "a"), Mask("traces")]
    text = joined(masks)
    assert text == "logs:a,logs:b,traces"
    assert split(text) == sorted(set(masks))
    assert split("") == []
