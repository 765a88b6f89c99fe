"""An environment's tools as an MCP server: what an agent that isn't started by itbc works with.

`place.py` is what all tools do their work by, `tools/` has them, one a file,
and `server.py` serves them while the agent's time lasts.
"""
