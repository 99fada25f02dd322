"""An answer of which a caller may see a part: the members that the profile names, and nothing else."""

import json
from collections.abc import Sequence
from typing import Any

from herma.policy.jsondoc import JsonError, find, parse

__all__ = ["reduced"]

# Readouts are small and shallow; a larger one has nothing to show.
MAX_DEPTH = 32
MAX_KEYS = 10_000


def reduced(raw: bytes, pointers: Sequence[str]) -> bytes:
    """Give the members of a JSON object at these pointers, each below the same names; of anything else an empty object.

    An error of the upstream is an answer like any other: its text may name what is hidden.
    """
    try:
        value = parse(raw, max_depth=MAX_DEPTH, max_keys=MAX_KEYS).value
    except JsonError:
        return b"{}"
    shown: dict[str, Any] = {}
    for pointer in pointers:
        for _, held in find(value, pointer) if isinstance(value, dict) else ():
            *way, name = (step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))
            below = shown
            for step in way:
                below = below.setdefault(step, {})
            below[name] = held
    return json.dumps(shown).encode("ascii")
