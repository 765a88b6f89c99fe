"""The scenario language: text to a checked model."""
