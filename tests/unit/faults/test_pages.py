"""The pages in `docs/faults/` are what the declarations make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from itbc.providers.faults import catalogue
from itbc.providers.faults.pages.text import pages

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "faults"
MADE = pages(catalogue())


def test_there_is_a_page_for_each_kind_and_no_other():
    assert {path.name for path in FOLDER.iterdir()} == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_pages_are_up_to_date(name: str):
    assert (FOLDER / name).read_text(encoding="utf-8") == MADE[name], "run python -m itbc.providers.faults.pages"
