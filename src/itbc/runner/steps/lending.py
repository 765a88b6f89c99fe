"""The variables that a user lends to an agent: only their names are recorded, and their values kept out of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from itbc.runner.failures import StepFailed
from itbc.runner.sandbox.redaction import Redaction
from itbc.runner.surroundings import Surroundings


def lent(names: Iterable[str], around: Surroundings) -> Mapping[str, str]:
    """The values of the user's variables now. Raises StepFailed where one isn't set."""
    missing = [name for name in names if name not in around.variables]
    if missing:
        raise StepFailed("input", f"not set in your environment: {', '.join(missing)}", "export it, or don't lend it")
    return {name: around.variables[name] for name in names}


def redaction(lent: Mapping[str, str], around: Surroundings) -> Redaction:
    """What keeps these values out of what is kept.

    A word that the scenario or its healthy environment has anyway is no
    secret, and without it an answer couldn't be judged: it stays.
    """
    if not lent:
        return Redaction()
    files = [path for path in around.run.artefacts.rglob("*.json") if path.is_file()]
    known = b"\n".join(path.read_bytes() for path in [*files, around.run.before] if path.exists())
    secret = {name: value for name, value in lent.items() if value.encode(errors="surrogateescape") not in known}
    for name in sorted(lent.keys() - secret.keys()):
        around.tell(f"the value of {name} is a word of the scenario, so it isn't kept out of the record")
    return Redaction.of(secret)
