"""A run as one HTML page that needs nothing but itself. It shows the truth: it is for the scenario's owner only."""

from __future__ import annotations

from itbc.results.report.page import render_page
from itbc.results.report.saving import save

__all__ = ["render_page", "save"]
