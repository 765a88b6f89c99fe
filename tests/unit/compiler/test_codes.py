"""The compiler's diagnostics: apart from the language's, each with its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from itbc.compiler.codes import CODES
from itbc.dsl import codes as language
from itbc.dsl.diagnostics import Code

PAGES = Path(__file__).parents[3] / "docs" / "diagnostics"


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.id)
def test_every_code_has_its_page(code: Code):
    page = (PAGES / f"{code.id}.md").read_text("utf-8")
    assert page.startswith(f"# {code.id} {code.slug}\n\n**{code.severity}: {code.headline}**\n")
    assert "## Fix" in page


def test_codes_are_nobody_elses():
    assert not {code.id for code in CODES} & set(language.CODES)
    assert not {code.slug for code in CODES} & {code.slug for code in language.CODES.values()}
    assert len({code.id for code in CODES}) == len(CODES)
