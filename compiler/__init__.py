"""From a checked scenario to an artefact folder."""
