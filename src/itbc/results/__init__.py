"""Records, summaries, reports."""
