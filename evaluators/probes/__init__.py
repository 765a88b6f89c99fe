"""Collect evidence from a running environment. Network clients are handed in."""
