"""Plan to artefact folder."""
