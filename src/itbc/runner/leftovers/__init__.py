"""What a run may leave behind: who holds it, what exists because of it, and how that is removed."""
