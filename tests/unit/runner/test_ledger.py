from __future__ import annotations

import threading
from pathlib import Path

from itbc.runner.leftovers.ledger import FileLedger, Line, ever, holder, leftovers, lines
from itbc.runner.processes import ProcessIdentity


def ledger(path: Path) -> FileLedger:
    return FileLedger(path, ProcessIdentity(41, 4242), "2030-01-01T00:00:00+00:00")


def test_what_was_begun_and_not_finished_is_left_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    book = ledger(path)
    book.intent("cluster", "a", {"state": "/a"})
    book.created("cluster", "a")
    book.intent("image", "b", {})
    book.intent("cluster", "c", {"state": "/c"})
    book.gone("image", "b")
    assert [(each.kind, each.identity, dict(each.details)) for each in leftovers(path)] == [
        ("cluster", "c", {"state": "/c"}),
        ("cluster", "a", {"state": "/a"}),
    ]


def test_all_that_was_ever_begun(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    book = ledger(path)
    book.intent("cluster", "a", {"state": "/a"})
    book.gone("cluster", "a")
    book.intent("cluster", "a", {"state": "/b"})
    assert [(each.identity, dict(each.details)) for each in ever(path)] == [("a", {"state": "/b"})]


def test_every_line_says_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    ledger(path).held()
    assert list(lines(path)) == [
        Line(event="held", kind="run", id="run", owner=41, owner_started=4242, expires="2030-01-01T00:00:00+00:00")
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_line_cut_short_is_ignored_and_the_next_one_stands(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    book = ledger(path)
    book.intent("cluster", "a", {})
    with path.open("ab") as file:
        file.write(b'{"event":"gone","kind":"clus')
    book.intent("cluster", "b", {})
    assert [each.identity for each in leftovers(path)] == ["b", "a"]


def test_the_last_word_on_the_owner_counts(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert holder(path) is None
    book = ledger(path)
    book.held()
    book.kept()
    last = holder(path)
    assert last is not None
    assert last.event == "kept"


def test_threads_dont_mix_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    book = ledger(path)

    def write(name: str) -> None:
        for number in range(20):
            book.intent("thing", f"{name}{number}", {"filler": "x" * 500})

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(leftovers(path)) == 80
