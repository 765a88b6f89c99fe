"""Examples in the documentation: finding them in Markdown and running them as a user would."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SPEC = Path(__file__).parent.parent / "spec"
DOCS = SPEC.parent.parent / "docs"

_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A fenced block: its language, the words after it, its text."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int

    def file(self) -> str:
        """The file it stands for."""
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), "scenario.itb")


def examples(markdown: str) -> list[Example]:
    """All fenced blocks of a text."""
    return [
        Example(found[1], tuple(found[2].split()), found[3], markdown.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(markdown)
    ]


def with_part(base: str, part: str) -> str:
    """A scenario in which the blocks of `part` stand instead of those of the same types."""
    for kind in dict.fromkeys(_BLOCK.findall(part)):
        base = re.sub(rf"^  {kind}\b[^\n]*\{{\n.*?^  \}}\n\n?", "", base, flags=re.MULTILINE | re.DOTALL)
    indented = "".join(f"  {line}" if line.strip() else line for line in part.splitlines(keepends=True))
    return base.rstrip().removesuffix("}") + "\n" + indented + "}\n"


def lay_out(folder: Path, blocks: Sequence[Example]) -> list[list[str]]:
    """Write the files of an example into a folder with the test application; returns the `itbc` calls to make."""
    shutil.copytree(SPEC / "shop", folder / "shop")
    base = (SPEC / "base.itb").read_text(encoding="utf-8")
    (folder / "base.itb").write_text(base, encoding="utf-8")
    calls: list[list[str]] = []
    for block in blocks:
        if block.language == "console":
            for line in block.text.splitlines():
                command = line.removeprefix("$ ")
                if command.startswith("itbc "):
                    calls.append(command.split()[1:])
                else:
                    subprocess.run(["sh", "-c", command], cwd=folder, check=True)
            continue
        text = with_part(base, block.text) if "part" in block.words else block.text
        target = folder / block.file()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return calls or [["check", "scenario.itb"]]


def codes_of(output: str) -> list[str]:
    """The codes of the diagnostics in a text output, in order."""
    return re.findall(r"^(?:error|warning)\[(ITB\d+)\]", output, re.MULTILINE)


def run(
    folder: Path, blocks: Sequence[Example], program: Callable[[list[str]], tuple[int, str]]
) -> tuple[int, set[str]]:
    """Run an example; the highest exit code and all codes that were raised."""
    worst, found = 0, set[str]()
    for call in lay_out(folder, blocks):
        code, output = program(call)
        worst = max(worst, code)
        found |= set(codes_of(output))
    return worst, found
