"""The corpus of odd texts, as it is and mutated with fixed seeds: whatever it is, checking it ends with messages.

A text that once broke something is added to `corpus/`.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from itbc.dsl.diagnostics import Sink
from itbc.dsl.dump import dump_tree
from itbc.dsl.format import format_file, format_text
from itbc.dsl.parsing import parse
from itbc.dsl.render import machine, text
from itbc.dsl.source import SourceFile
from itbc.dsl.structure import structure

HERE = Path(__file__).parent
CORPUS = sorted((HERE / "corpus").iterdir())
NOISE = [
    *"{}[]()=\"',.:;#/*\n \t\\$%<>&|!?-+0a\0é\ufeff\u2028\ud800",
    "${",
    "/*",
    "*/",
    "<<E",
    '"x" {',
    "45m",
    "\r\n",
    "\n}\n",
    "{\n",
]
SECONDS = 5.0


def run(source: str) -> Sink:
    sink = Sink()
    file = parse(SourceFile("x.itb", source), sink)
    assert file.damaged == bool(sink.errors)
    structure(file, sink)
    dump_tree(file)
    text.render(sink.diagnostics)
    machine.report(sink.diagnostics)
    if not file.damaged:
        laid_out = format_file(file)
        assert format_text(laid_out) == laid_out
    return sink


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_the_corpus(path: Path):
    started = time.monotonic()
    run(path.read_bytes().decode("utf-8", errors="replace"))
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_mutations_of_the_corpus(path: Path):
    source = path.read_bytes().decode("utf-8", errors="replace")[:3000]
    generator = random.Random(path.name)  # noqa: S311 - the same mutations each time
    for _ in range(15):
        mutated = source
        for _ in range(generator.randrange(1, 6)):
            at, length = generator.randrange(len(mutated) + 1), generator.randrange(12)
            noise = generator.choice(NOISE) * generator.choice([1, 1, 1, 2, 60])
            mutated = mutated[:at] + noise + mutated[at + length :]
        run(mutated)


@pytest.mark.parametrize(
    "source",
    [
        '"' * 200_000,
        "$" * 200_000 + "{",
        'a = "' + "${" * 100_000,
        'a = "' + "$$" * 100_000 + '{"',
        "[" * 100_000,
        "a {\n" * 30_000,
        "a = " + "(" * 50_000,
        "a = " + "1 + " * 10_000 + "1",
        "a = " + "1.1" * 50_000,
        "}" * 100_000,
        "/*" * 100_000,
        "# " + "x" * 1_000_000,
        "a = 1\n" * 3_000,
        "\0" * 100_000,
        "a = [" + "{}, " * 5_000 + "]",
        "a = '" * 20_000,
    ],
    ids=lambda source: source[:12].strip(),
)
def test_large_and_silly_texts_end_soon(source: str):
    started = time.monotonic()
    run(source)
    assert time.monotonic() - started < 4 * SECONDS
