from __future__ import annotations

import threading
from pathlib import Path

import pytest

from itbc.stacks.toolchain import ToolchainError
from itbc.stacks.toolchain.cache import key_of, made_once


def quiet(line: str) -> None:
    del line


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(part: Path) -> None:
        made.append(part)
        part.write_text("whole")

    target = tmp_path / "deep" / "thing"
    for _ in range(2):
        assert made_once(target, make, quiet).read_text() == "whole"
    assert len(made) == 1


def test_a_failure_leaves_nothing_that_looks_like_the_target(tmp_path: Path) -> None:
    target = tmp_path / "thing"

    def fail(part: Path) -> None:
        part.write_text("half")
        raise ToolchainError("no", "try again")

    with pytest.raises(ToolchainError, match="no"):
        made_once(target, fail, quiet)
    assert [path.name for path in tmp_path.iterdir()] == ["thing.lock"]


def test_what_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    left = tmp_path / "thing.part"
    left.mkdir()
    (left / "half").touch()

    def make(part: Path) -> None:
        part.mkdir()
        (part / "whole").touch()

    assert [path.name for path in made_once(target, make, quiet).iterdir()] == ["whole"]


def test_of_two_at_once_one_makes_it_and_the_other_waits(tmp_path: Path) -> None:
    target, begun, told = tmp_path / "thing", threading.Event(), threading.Event()
    makers: list[str] = []

    def make(part: Path) -> None:
        makers.append(threading.current_thread().name)
        begun.set()
        assert told.wait(10)
        part.write_text("whole")

    def tell(line: str) -> None:
        assert "another process is making thing" in line
        told.set()

    first = threading.Thread(target=made_once, args=(target, make, quiet), name="first")
    first.start()
    assert begun.wait(10)
    assert made_once(target, make, tell).read_text() == "whole"
    first.join()
    assert makers == ["first"]


def test_a_cache_that_cannot_be_written_to_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolchainError) as wrong:
        made_once(tmp_path / "file" / "thing", quiet, quiet)  # type: ignore[arg-type]
    assert "ITBC_CACHE" in wrong.value.remedy


def test_a_key_depends_on_contents_names_and_parts_only(tmp_path: Path) -> None:
    def key(folder: str, name: str, content: str, *parts: str) -> str:
        root = tmp_path / folder
        root.mkdir(exist_ok=True)
        file = root / name
        file.write_text(content)
        return key_of(parts, root, [file])

    one = key("a", "main.go", "package main", "go1.26")
    assert one == key("b", "main.go", "package main", "go1.26")
    others = [
        key("a", "main.go", "package other", "go1.26"),
        key("a", "other.go", "package main", "go1.26"),
        key("a", "main.go", "package main", "go1.27"),
        key("a", "main.go", "package main", "go1.", "26"),
    ]
    assert len({one, *others}) == 5
