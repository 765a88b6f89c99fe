"""Checked scenario to plan, one pass a file."""
