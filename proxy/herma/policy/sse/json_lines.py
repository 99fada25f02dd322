"""Answers that are lines of JSON: a stream without events, whose lines may carry one text piece by piece."""

import json
from typing import Any, Final

from herma.policy.redaction.redactor import Redactor
from herma.policy.sse.channels import texts
from herma.policy.sse.tails import Tails

__all__ = ["spreads"]

# A line of a stream is an event; what is longer is a document, and judged as one.
MAX_LINE_BYTES: Final = 1024 * 1024


def spreads(redactor: Redactor, raw: bytes) -> bool:
    """Tell whether a body is lines of JSON over which a secret is spread, so that masking each line would not hide it."""
    first, mark, rest = raw.partition(b"\n")
    if not mark or not rest.strip() or _value(first) is None:
        return False
    tails = Tails(redactor)
    return any(
        tails.carried("", pointer, text) > 0
        for line in raw.splitlines()
        for pointer, text in texts(_value(line))
    )


def _value(line: bytes) -> Any:
    if len(line) > MAX_LINE_BYTES:
        return None
    try:
        return json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
