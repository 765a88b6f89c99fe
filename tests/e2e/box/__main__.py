"""Ways to read the truth or to leave the box. An agent tries them all; as a control, an administrator tries the same.

Run this folder with the path of a JSON file of places (see test_agent_box.py), or without for the attempts' names.
Prints a JSON object: for each attempt whether it got through and what it saw. Needs nothing but Python and kubectl, and
knows where everything is: no attempt fails for want of knowledge.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import in_network  # noqa: F401 - it adds its attempts
import on_machine  # noqa: F401
from in_cluster import rights
from trying import ATTEMPTS, Outcome


def main() -> None:
    """Try everything that there is."""
    if len(sys.argv) == 1:
        json.dump(list(ATTEMPTS), sys.stdout)
        return
    places: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
    home = Path.cwd()
    outcomes: dict[str, Outcome] = {}
    for name, way in ATTEMPTS.items():
        if name not in places["without"]:
            outcomes[name] = way(places)
            os.chdir(home)
    json.dump({"outcomes": outcomes, "rights": rights(places["rights"])}, sys.stdout)


if __name__ == "__main__":
    main()
