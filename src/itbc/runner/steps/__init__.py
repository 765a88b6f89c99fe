"""The steps of a run, one a file: each a function from a serialisable input to a serialisable output."""
