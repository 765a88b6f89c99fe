"""`python -m itbc.providers.faults.pages` writes the pages anew into `docs/faults/` of the folder it is called in."""

from __future__ import annotations

import sys
from pathlib import Path

from itbc.providers.faults import catalogue
from itbc.providers.faults.pages.text import pages

FOLDER = Path("docs/faults")


def main() -> None:
    """Write all pages and remove those of kinds that are no more."""
    made = pages(catalogue())
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(made)} pages in {FOLDER}\n")


if __name__ == "__main__":
    main()
