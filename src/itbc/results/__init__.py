"""Records of runs: read, score again, show, and hand on to other tools."""
