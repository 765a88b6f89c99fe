"""The first process of a node host: sets its namespaces up and keeps its programs running.

It is started as `python -I -m itbc.providers.embedded.supervisor STATE` and
imports nothing but the standard library, so that it starts fast and needs
nothing of the machine once it has moved into a root of its own.
"""
