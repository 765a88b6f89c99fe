"""The programs of other people that a run drives, and their complaints put into our words."""
