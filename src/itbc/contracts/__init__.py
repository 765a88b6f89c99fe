"""The versioned JSON shapes that pass between stages after `emit`.

Each file of an artefact folder or a run folder is one of these shapes. A shape
is a frozen `msgspec.Struct`; its JSON Schema is committed under `schema/` and
checked against it by a test. Nothing here imports anything else of itbc, so a
score can be recomputed on a machine that has only the files.
"""
