"""What the gate tells its operator on standard error: one line an event, in plain words or as JSON.

Lines are built from the gate's own words and from configuration; nothing of a request is in them.
"""

import json
import sys
import time

__all__ = ["Log"]


class Log:
    """Writes lines to standard error; `as_json` for machines."""

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json

    def __call__(self, event: str, message: str) -> None:
        """Write one event."""
        if self._as_json:
            line = json.dumps({"time": round(time.time(), 3), "event": event, "message": message})
        else:
            line = f"herma: {_printable(message)}"
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - the log of a command line program


def _printable(text: str) -> str:
    # Configuration may hold terminal escapes; a log must not act on them.
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
