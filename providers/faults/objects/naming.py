"""Names of objects that faults create."""

from __future__ import annotations

import re

from itbc.dsl.catalogue import Problem

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
"""A DNS subdomain (RFC 1123), which Kubernetes asks of most names."""


def misnamed(parameter: str, name: str) -> list[Problem]:
    """Why the API server wouldn't take an object of this name; nothing where it would."""
    if _SUBDOMAIN.fullmatch(name) and len(name) <= 253:
        return []
    advice = "it is small letters, digits, `-` and `.`, and begins and ends with a letter or a digit"
    return [Problem(parameter, "this can't be the name of a Kubernetes object", advice)]
