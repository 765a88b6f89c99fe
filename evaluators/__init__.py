"""Evidence and evaluation spec to score."""
