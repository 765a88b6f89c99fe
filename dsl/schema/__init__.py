"""The typed schema as data: one description of the language for the checker, the reference page and the editor."""
