from __future__ import annotations

from pathlib import Path

import pytest

from itbc.results.report.text import clean, excerpt

ESC = "\x1b"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\n\ttext ü 漢 שלום", "plain\n\ttext ü 漢 שלום"),
        (f"{ESC}[1;31mred{ESC}[0m {ESC}[2K{ESC}[10;20Hmoved", "red moved"),
        (f"{ESC}]0;title\x07a{ESC}]8;;http://x{ESC}\\link{ESC}]8;;{ESC}\\", "alink"),
        (f"{ESC}(Bx", "x"),
        ("\x9b31mx", "x"),
        ("one\r\ntwo", "one\ntwo"),
        ("50%\r100%", "50%⟨U+000D⟩100%"),
        ("a\u202eb\u2066c\u200f\ufeff", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩⟨U+FEFF⟩"),
        ("nul\x00bell\x07", "nul⟨U+0000⟩bell⟨U+0007⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("line\u2028para\u2029", "line⟨U+2028⟩para⟨U+2029⟩"),
        ("no\u00a0break, 👩\u200d💻", "no\u00a0break, 👩\u200d💻"),
    ],
)
def test_what_cannot_be_seen_is_dropped_or_made_visible(raw: str, shown: str) -> None:
    assert clean(raw) == shown
    assert clean(shown) == shown


def test_an_escape_that_never_ends_hides_nothing() -> None:
    text = clean(f"{ESC}]0;the rest is evidence\nand more")
    assert "the rest is evidence\nand more" in text
    assert ESC not in text


def test_many_unfinished_escapes_take_no_time() -> None:
    assert len(clean(f"{ESC}]" * 50_000)) == 50_000 * len("⟨U+001B⟩]")


def test_an_excerpt_is_a_stretch_of_a_file_with_its_middle_left_out(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    path.write_bytes(b"before" + b"a" * 40 + b"b" * 60 + b"after")
    whole = excerpt(path, 6, 100, most=100)
    assert (whole.head, whole.omitted, whole.tail) == ("a" * 40 + "b" * 60, 0, "")
    cut = excerpt(path, 6, 100, most=40)
    assert (cut.head, cut.omitted, cut.tail) == ("a" * 10, 60, "b" * 30)
    assert excerpt(path, 106, 1000, most=40).head == "after"
    assert excerpt(path, 500, 10, most=40).is_empty
    assert excerpt(tmp_path / "nowhere", 0, 10, most=10).is_empty
    path.write_bytes("ü".encode()[:1])
    assert excerpt(path, 0, 1, most=10).head == "\ufffd"
