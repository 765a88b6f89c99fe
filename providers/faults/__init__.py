"""The fault catalogue, one family a file."""
