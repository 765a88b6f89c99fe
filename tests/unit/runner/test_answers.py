from __future__ import annotations

import os
from pathlib import Path

import pytest

from itbc.contracts.answer import Answer, Cause
from itbc.runner.sandbox.answers import Unreadable, handed_in, parse_answer

CHECKOUT = Cause(kind="Deployment", name="checkout", namespace="shop")


@pytest.mark.parametrize(
    "data",
    [
        b'{"root_causes": [{"kind": "Deployment", "name": "checkout", "namespace": "shop"}]}',
        b'{"root_causes": ["shop/Deployment/checkout"], "confidence": 0.9}',
        b'```json\n{"root_causes": [{"Kind": "Deployment", "Name": " checkout ", "namespace": "shop", "x": 1}]}\n```\n',
        b'\xef\xbb\xbf{"root_causes": [{"name": "shop/Deployment/checkout"}]}',
    ],
)
def test_what_can_be_understood_is(data: bytes) -> None:
    answer, problem = parse_answer(data)
    assert problem == ""
    assert answer is not None
    assert answer.root_causes == [CHECKOUT]


def test_the_rest_is_said() -> None:
    answer, problem = parse_answer(b'{"root_causes": ["Deployment/checkout", 5, {"kind": "x"}], "explanation": ["no"]}')
    assert answer == Answer(root_causes=[Cause(kind="Deployment", name="checkout")])
    assert problem == "root cause 2 has no kind and name; root cause 3 has no kind and name"


@pytest.mark.parametrize("data", [b"", b"checkout", b"[]", b"{}", b'{"root_causes": "x"}', b"[" * 100000])
def test_nonsense_is_no_answer(data: bytes) -> None:
    answer, problem = parse_answer(data)
    assert answer is None
    assert problem.startswith("the answer")


def test_nothing_was_handed_in(tmp_path: Path) -> None:
    assert handed_in(tmp_path / "answer.json") is None


def test_links_pipes_and_monsters_arent_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"root_causes": []}')
    link = tmp_path / "link"
    link.symlink_to(secret)
    with pytest.raises(Unreadable, match="can't be read"):
        handed_in(link)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(Unreadable, match="isn't a regular file"):
        handed_in(pipe)
    large = tmp_path / "large"
    large.write_bytes(b" " * (1024 * 1024 + 1))
    with pytest.raises(Unreadable, match="larger"):
        handed_in(large)
    assert handed_in(secret) == b'{"root_causes": []}'
